// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/spec.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::quant {
namespace {

TEST(QuantSpec, CanonicalTextsRoundTrip) {
  for (const std::string text : {"none",
                                 "int4",
                                 "int4/tensor/static",
                                 "int4/token",
                                 "int4/channel",
                                 "int4/channel/static",
                                 "int4/group32",
                                 "int4_full/group128",
                                 "uint8/token",
                                 "int8/channel,calib=mse",
                                 "int4/tensor/static,calib=p99.9,fold=mean",
                                 "int4/tensor/static,fold=p95",
                                 "mxint4",
                                 "mxint4,rule=mse",
                                 "mxint4,rule=mse,block=16",
                                 "mxint4,window=4",
                                 "mxfp4,rule=mse,window=0",
                                 "int4/block32,scale=e5m3",
                                 "int3/block16,scale=e4m4,rule=mse",
                                 "fp4_e2m1/block32,scale=fp16,rule=rceil",
                                 "nvfp4",
                                 "bf16",
                                 "fp8_e4m3",
                                 "fp8_e4m3/unit"}) {
    EXPECT_EQ(to_string(parse_quant_spec(text)), text);
  }
}

TEST(QuantSpec, DefaultsAreLeftOutOfTheText) {
  EXPECT_EQ(to_string(parse_quant_spec("int4/tensor/dynamic")), "int4");
  EXPECT_EQ(to_string(parse_quant_spec("int4/dynamic")), "int4");
  EXPECT_EQ(to_string(parse_quant_spec("int4/static")), "int4/tensor/static");
  EXPECT_EQ(to_string(parse_quant_spec("mxint4,rule=floor,block=32")), "mxint4");
  EXPECT_EQ(to_string(parse_quant_spec("int4,calib=absmax")), "int4");
  EXPECT_EQ(to_string(parse_quant_spec("int4/block8,rule=round,scale=e5m3")),
            "int4/block8,scale=e5m3");
}

TEST(QuantSpec, EveryFormatThatHasAZeroIsAQuantizer) {
  for (const formats::Format& format : formats::formats()) {
    if (format.element.min > 0) continue;
    EXPECT_EQ(parse_quant_spec(format.name).format, &format);
  }
}

TEST(QuantSpec, WrongScalesSayWhatWasMeant) {
  const auto code = ErrorCode::InvalidArgument;
  EXPECT_ERROR(parse_quant_spec("int4/block32"), code, "expected scale=e5m3, e4m4, fp16");
  EXPECT_ERROR(parse_quant_spec("int4/block32,scale=e5m4"), code, "did you mean 'e5m3'");
  EXPECT_ERROR(parse_quant_spec("int4/block32,scale=e8m0"), code, "a name such as mxint4");
  EXPECT_ERROR(parse_quant_spec("fp4_e2m1/block16,scale=e4m3"), code, "nvfp4");
  EXPECT_ERROR(parse_quant_spec("int4/group32,scale=e5m3"), code, "in blocks");
  EXPECT_ERROR(parse_quant_spec("mxint4,scale=e5m3"), code, "in blocks");
  EXPECT_ERROR(parse_quant_spec("uint4/block32,scale=e5m3"), code, "a symmetric format");
  EXPECT_ERROR(parse_quant_spec("bf16/block32,scale=e5m3"), code, "at most 8 bits");
  EXPECT_ERROR(parse_quant_spec("int4/block300,scale=e5m3"), code, "256");
  EXPECT_ERROR(parse_quant_spec("int4/block32/static,scale=e5m3"), code, "static scales");
  EXPECT_ERROR(parse_quant_spec("int4/block32,scale=e5m3,rule=even"), code, "round, rceil or mse");
  EXPECT_ERROR(parse_quant_spec("int4/block32,scale=e5m3,calib=mse"), code, "rule=");
  EXPECT_ERROR(parse_quant_spec("int4/block32,scale=e5m3,window=9"), code, "0 to 8");
  EXPECT_ERROR(parse_quant_spec("e5m3/tensor"), code, "stores scales");
}

TEST(QuantSpec, WrongTextsSayWhatWasMeant) {
  const auto code = ErrorCode::InvalidArgument;
  EXPECT_ERROR(parse_quant_spec("imt4"), code, "did you mean 'int4'");
  EXPECT_ERROR(parse_quant_spec(""), code, "format");
  EXPECT_ERROR(parse_quant_spec("int4/tensr"), code, "did you mean 'tensor'");
  EXPECT_ERROR(parse_quant_spec("int4/tensor/statik"), code, "did you mean 'static'");
  EXPECT_ERROR(parse_quant_spec("int4/tensor/static/token"), code, "source");
  EXPECT_ERROR(parse_quant_spec("int4/group0"), code, "group length; got '0'");
  EXPECT_ERROR(parse_quant_spec("int4/group-3"), code, "group length; got '-3'");
  EXPECT_ERROR(parse_quant_spec("int4/group"), code, "group length");
  EXPECT_ERROR(parse_quant_spec("mxint4/tensor"), code, "brings its own scales");
  EXPECT_ERROR(parse_quant_spec("mxint4/static"), code, "brings its own scales");
  EXPECT_ERROR(parse_quant_spec("mxint4,rule=flor"), code, "did you mean 'floor'");
  EXPECT_ERROR(parse_quant_spec("mxint4,rule"), code, "name=value");
  EXPECT_ERROR(parse_quant_spec("mxint4,rul=mse"), code, "did you mean 'rule'");
  EXPECT_ERROR(parse_quant_spec("mxint4,rule=mse,rule=floor"), code, "given twice");
  EXPECT_ERROR(parse_quant_spec("mxint4,block=0"), code, "block length");
  EXPECT_ERROR(parse_quant_spec("mxint4,block=257"), code, "256");
  EXPECT_ERROR(parse_quant_spec("nvfp4,rule=mse"), code, "mx formats");
  EXPECT_ERROR(parse_quant_spec("mxint4,window=-1"), code, "window; got '-1'");
  EXPECT_ERROR(parse_quant_spec("mxint4,window=255"), code, "0 to 254");
  EXPECT_ERROR(parse_quant_spec("int4,window=4"), code, "mx formats");
  EXPECT_ERROR(parse_quant_spec("int4,rule=mse"), code, "mx formats");
  EXPECT_ERROR(parse_quant_spec("int4,block=8"), code, "groupN");
  EXPECT_ERROR(parse_quant_spec("int4,fold=max"), code, "static");
  EXPECT_ERROR(parse_quant_spec("int4/static,fold=median"), code, "fold");
  EXPECT_ERROR(parse_quant_spec("int4,calib=p0"), code, "calib");
  EXPECT_ERROR(parse_quant_spec("int4,calib=p101"), code, "calib");
  EXPECT_ERROR(parse_quant_spec("int4/token/static"), code, "tensor or channel");
  EXPECT_ERROR(parse_quant_spec("e8m0"), code, "zero");
}

}  // namespace
}  // namespace driftless::quant
