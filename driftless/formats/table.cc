// SPDX-License-Identifier: Apache-2.0
#include "driftless/formats/table.h"

#include <array>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"
#include "driftless/formats/e8m0fnu.h"
#include "driftless/formats/integer.h"
#include "driftless/formats/minifloat.h"
#include "driftless/formats/scale_format.h"

namespace driftless::formats {
namespace {

template <int Bits>
constexpr Element kNarrow = Integer<Bits, Range::Narrow>::element();
template <int Bits>
constexpr Element kFull = Integer<Bits, Range::Full>::element();
template <int Bits>
constexpr Element kUnsigned = Integer<Bits, Range::Unsigned>::element();
template <int Bits>
constexpr Element kMxInt = Integer<Bits, Range::Narrow, Bits - 2>::element();

constexpr Element kE2m1fn = E2m1fn::element("");
constexpr Element kE2m3fn = E2m3fn::element("");
constexpr Element kE3m2fn = E3m2fn::element("");
constexpr Element kE4m3fn = E4m3fn::element("S.1111.111 is NaN");
constexpr Element kE5m2 = E5m2::element("infinity and NaN as in IEEE 754");
constexpr Element kFp16 = Fp16::element("infinity and NaN as in IEEE 754");
constexpr Element kBf16 = Bf16::element("infinity and NaN as in IEEE 754");

constexpr auto kPow2 = Scaling::PowerOfTwo;

constexpr std::array kFormats = {
    Format{2, "int2", kNarrow<2>},
    Format{3, "int3", kNarrow<3>},
    Format{4, "int4", kNarrow<4>},
    Format{5, "int5", kNarrow<5>},
    Format{6, "int6", kNarrow<6>},
    Format{7, "int7", kNarrow<7>},
    Format{8, "int8", kNarrow<8>},
    Format{12, "int2_full", kFull<2>},
    Format{13, "int3_full", kFull<3>},
    Format{14, "int4_full", kFull<4>},
    Format{15, "int5_full", kFull<5>},
    Format{16, "int6_full", kFull<6>},
    Format{17, "int7_full", kFull<7>},
    Format{18, "int8_full", kFull<8>},
    Format{22, "uint2", kUnsigned<2>},
    Format{23, "uint3", kUnsigned<3>},
    Format{24, "uint4", kUnsigned<4>},
    Format{25, "uint5", kUnsigned<5>},
    Format{26, "uint6", kUnsigned<6>},
    Format{27, "uint7", kUnsigned<7>},
    Format{28, "uint8", kUnsigned<8>},
    Format{32, "fp4_e2m1", kE2m1fn},
    Format{33, "fp6_e2m3", kE2m3fn},
    Format{34, "fp6_e3m2", kE3m2fn},
    Format{35, "fp8_e4m3", kE4m3fn},
    Format{36, "fp8_e5m2", kE5m2},
    Format{37, "fp16", kFp16},
    Format{38, "bf16", kBf16},
    Format{39, "e8m0", E8m0fnu::element()},
    Format{40, "e5m3", E5m3u::element()},
    Format{41, "e4m4", E4m4u::element()},
    Format{64, "mxint2", kMxInt<2>, kPow2, 32},
    Format{65, "mxint3", kMxInt<3>, kPow2, 32},
    Format{66, "mxint4", kMxInt<4>, kPow2, 32},
    Format{67, "mxint6", kMxInt<6>, kPow2, 32},
    Format{68, "mxint8", kMxInt<8>, kPow2, 32},
    Format{69, "mxfp4", kE2m1fn, kPow2, 32},
    Format{70, "mxfp6_e2m3", kE2m3fn, kPow2, 32},
    Format{71, "mxfp6_e3m2", kE3m2fn, kPow2, 32},
    Format{72, "mxfp8_e4m3", kE4m3fn, kPow2, 32},
    Format{73, "mxfp8_e5m2", kE5m2, kPow2, 32},
    Format{74, "nvfp4", kE2m1fn, Scaling::TwoLevel, 16},
};

constexpr std::array kScaleFormats = {
    ScaleFormatName{ScaleFormat::E5m3, "e5m3"},
    ScaleFormatName{ScaleFormat::E4m4, "e4m4"},
    ScaleFormatName{ScaleFormat::Float16, "fp16"},
    ScaleFormatName{ScaleFormat::S4m3, "s4m3"},
};

}  // namespace

std::span<const Format> formats() noexcept { return kFormats; }

std::span<const ScaleFormatName> scale_formats() noexcept { return kScaleFormats; }

const Format& format_by_name(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Format& format : kFormats) {
    if (format.name == name) return format;
    names.push_back(format.name);
  }
  fail(ErrorCode::InvalidArgument, "format: unknown; got '", name, "', expected a name listed by ",
       "'driftless formats'", did_you_mean(name, names));
}

double bits_per_element(const Format& format) noexcept {
  const double scale_bits = format.scaling == Scaling::None ? 0 : 8;
  return format.element.bits + scale_bits / static_cast<double>(format.block);
}

}  // namespace driftless::formats
