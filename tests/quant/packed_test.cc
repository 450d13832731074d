// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/packed.h"

#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/rng.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/sample_values.h"

namespace driftless::quant {
namespace {

PackedMatrix packed_matrix(const char* spec, int64_t rows, int64_t cols) {
  const auto values = testing::gaussian_values(rows * cols, 3);
  return pack(Quantizer(parse_quant_spec(spec)).quantize({values.data(), rows, cols}));
}

TEST(Packed, BitsLieFromTheLowEndUp) {
  const std::vector<uint8_t> codes = {0b101, 0b011, 0b110, 0b001};
  std::vector<uint8_t> bytes(2);
  pack_bits(codes, 3, bytes);
  // 001 110 011 101 read from the top.
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0b10'011'101, 0b0000'001'1}));
}

TEST(Packed, EveryWidthRoundTrips) {
  Rng rng(1);
  for (int bits = 1; bits <= 8; ++bits) {
    for (const size_t n : {1u, 2u, 7u, 32u, 97u}) {
      std::vector<uint8_t> codes(n);
      for (uint8_t& code : codes) code = static_cast<uint8_t>(rng.below(1u << bits));
      std::vector<uint8_t> bytes((n * static_cast<size_t>(bits) + 7) / 8);
      pack_bits(codes, bits, bytes);
      std::vector<uint8_t> back(n);
      unpack_bits(bytes, bits, back);
      EXPECT_EQ(back, codes) << bits << " bits, " << n << " codes";
    }
  }
}

TEST(Packed, StorageIsWhatTheTableSays) {
  for (const formats::Format& format : formats::formats()) {
    if (format.scaling == formats::Scaling::None) continue;
    const auto packed = packed_matrix(std::string(format.name).c_str(), 4, 128);
    const double bits = 8.0 * static_cast<double>(packed.bytes.size() + packed.scales.codes.size());
    EXPECT_EQ(bits / (4 * 128), formats::bits_per_element(format)) << format.name;
  }
}

TEST(Packed, ShortLastBlockTakesAWholeOne) {
  const auto packed = packed_matrix("mxint4", 3, 97);
  EXPECT_EQ(packed_row_bytes(packed.spec, 97), 64);
  EXPECT_EQ(packed.bytes.size(), 3u * 64);
  EXPECT_EQ(packed.scales.codes.size(), 3u * 4);
  EXPECT_EQ(packed.cols, 97);
}

TEST(Packed, RefusesWhatDoesNotFit) {
  auto packed = packed_matrix("mxint4", 2, 40);
  packed.bytes.pop_back();
  EXPECT_ERROR(unpack(packed), ErrorCode::BadFile, "bytes of codes; got 63, expected 64");
  packed = packed_matrix("mxint4", 2, 40);
  packed.scales.codes.push_back(0);
  EXPECT_ERROR(unpack(packed), ErrorCode::BadFile, "scales; got 5, expected 4");
  packed = packed_matrix("mxint4", 2, 40);
  packed.bytes.back() = 1;
  EXPECT_ERROR(unpack(packed), ErrorCode::BadFile, "padding after code 79");
}

}  // namespace
}  // namespace driftless::quant
