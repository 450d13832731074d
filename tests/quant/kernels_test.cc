// SPDX-License-Identifier: Apache-2.0
// Every kernel set this processor can run gives the scalar set's bits, for every format, rule,
// awkward length and alignment.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/formats/float_bits.h"
#include "driftless/formats/table.h"
#include "driftless/quant/kernels/kernel_set.h"

#include "tests/testing/sample_values.h"

namespace driftless::quant {
namespace {

using formats::BlockScaling;
using formats::Format;
using formats::Scaling;

/// 1, around every vector width, primes, and enough for several blocks.
constexpr int64_t kLengths[] = {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 64, 97, 257, 1021};
constexpr int64_t kOffsets[] = {0, 1, 3};
constexpr int64_t kGroups[] = {1, 5, 16, 32, 33, 128};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class EveryKernelSet : public ::testing::TestWithParam<std::string> {
 protected:
  const KernelSet& set = find();

  /// Calls check(values, n) with a misaligned stretch that ends in NaN, which no kernel may read.
  template <class Check>
  void for_each_stretch(Check check) {
    for (const int64_t n : kLengths) {
      for (const int64_t offset : kOffsets) {
        auto values = testing::awkward_values(n + offset, static_cast<uint64_t>(n * 7 + offset));
        values.resize(values.size() + 32, std::numeric_limits<float>::quiet_NaN());
        SCOPED_TRACE("n " + std::to_string(n) + " offset " + std::to_string(offset));
        check(values.data() + offset, n);
      }
    }
  }

 private:
  static const KernelSet& find() {
    for (const KernelSet* candidate : available_kernels()) {
      if (candidate->name == GetParam()) return *candidate;
    }
    throw std::logic_error("no kernel set " + GetParam());
  }
};

TEST_P(EveryKernelSet, AbsmaxAndExtent) {
  for_each_stretch([&](const float* x, int64_t n) {
    EXPECT_EQ(set.absmax_bits(x, n), kScalarKernels.absmax_bits(x, n));
    const Extent got = set.extent(x, n);
    const Extent expected = kScalarKernels.extent(x, n);
    EXPECT_EQ(got.low, expected.low);
    EXPECT_EQ(got.high, expected.high);
  });
}

TEST_P(EveryKernelSet, EncodeIntegers) {
  for (const Format& format : formats::formats()) {
    if (format.element.code_sign != formats::CodeSign::TwosComplement || format.element.bits > 8 ||
        format.element.smallest != 1)
      continue;
    SCOPED_TRACE(format.name);
    for_each_stretch([&](const float* x, int64_t n) {
      const Extent extent = kScalarKernels.extent(x, n);
      for (const float share : {1.0f, 0.3f})  // The second one clips.
        for (const auto offset : {uint8_t{0}, uint8_t{128}}) {
          const Scale scale = scale_of(format.element, {extent.low * share, extent.high * share});
          std::vector<uint8_t> got(static_cast<size_t>(n));
          set.encode_integers(format.element, x, n, {scale.scale, offset}, got.data());
          for (int64_t i = 0; i < n; ++i) {
            // By definition: the decoded code is the integer.
            const auto whole = static_cast<int>(
                format.element.decode(encode(format.element, {.scale = scale.scale}, x[i])));
            ASSERT_EQ(got[static_cast<size_t>(i)], static_cast<uint8_t>(whole + offset));
          }
        }
    });
  }
}

TEST_P(EveryKernelSet, FakeScaled) {
  for (const Format& format : formats::formats()) {
    SCOPED_TRACE(format.name);
    for_each_stretch([&](const float* x, int64_t n) {
      const Extent extent = kScalarKernels.extent(x, n);
      for (const float share : {1.0f, 0.3f}) {  // The second one clips.
        const Scale scale = scale_of(format.element, {extent.low * share, extent.high * share});
        std::vector<float> got(static_cast<size_t>(n));
        std::vector<float> expected(got.size());
        set.fake_scaled(format.element, scale, x, n, got.data());
        kScalarKernels.fake_scaled(format.element, scale, x, n, expected.data());
        EXPECT_TRUE(same_bits(got, expected));
      }
    });
  }
}

TEST_P(EveryKernelSet, FakeGroups) {
  for (const Format& format : formats::formats()) {
    SCOPED_TRACE(format.name);
    for (const int64_t group : kGroups) {
      for_each_stretch([&](const float* x, int64_t n) {
        std::vector<float> got(static_cast<size_t>(n));
        std::vector<float> expected(got.size());
        EXPECT_EQ(set.fake_groups(format.element, x, {n, group}, got.data()), kAllFinite);
        kScalarKernels.fake_groups(format.element, x, {n, group}, expected.data());
        EXPECT_TRUE(same_bits(got, expected)) << "group " << group;
      });
    }
  }
}

TEST_P(EveryKernelSet, FakeGroupsWithRoundedScales) {
  using formats::ScaleRounding;
  for (const char* name : {"int4", "int8_full", "fp4_e2m1", "fp8_e5m2"}) {
    const formats::Element element = formats::format_by_name(name).element;
    for (const formats::ScaleFormatName& scale : formats::scale_formats()) {
      for (const ScaleRounding rounding : {ScaleRounding::Nearest, ScaleRounding::Up}) {
        SCOPED_TRACE(std::string(name) + " " + std::string(scale.name));
        for_each_stretch([&](const float* x, int64_t n) {
          const Groups groups{n, 32, {scale.value, rounding}};
          std::vector<float> got(static_cast<size_t>(n));
          std::vector<float> expected(got.size());
          EXPECT_EQ(set.fake_groups(element, x, groups, got.data()), kAllFinite);
          kScalarKernels.fake_groups(element, x, groups, expected.data());
          EXPECT_TRUE(same_bits(got, expected));
        });
      }
    }
  }
}

TEST_P(EveryKernelSet, SquaredErrors) {
  for (const Format& format : formats::formats()) {
    if (format.element.min >= 0) continue;
    SCOPED_TRACE(format.name);
    for_each_stretch([&](const float* x, int64_t n) {
      const std::span run(x, static_cast<size_t>(std::min(n, formats::kMaxBlock)));
      const float absmax =
          std::bit_cast<float>(kScalarKernels.absmax_bits(run.data(), std::ssize(run)));
      const float scale = symmetric_scale(format.element, absmax).scale;
      for (const float share : {1.0f, 0.75f, 0.5f}) {
        const float unit = formats::error_unit(absmax);
        EXPECT_EQ(set.squared_error(format.element, run, scale * share, unit),
                  kScalarKernels.squared_error(format.element, run, scale * share, unit));
      }
    });
  }
}

TEST_P(EveryKernelSet, BlocksFakeAndEncoded) {
  for (const Format& format : formats::formats()) {
    if (format.scaling != Scaling::PowerOfTwo) continue;
    for (const auto& [rule, name] : formats::exponent_rules()) {
      SCOPED_TRACE(std::string(format.name) + " " + std::string(name));
      const BlockScaling scaling = formats::block_scaling(format.element, rule);
      for (const int64_t block : {16, 32, 5}) {
        for_each_stretch([&](const float* x, int64_t n) {
          const size_t blocks = static_cast<size_t>((n + block - 1) / block);
          std::vector<float> got(static_cast<size_t>(n));
          std::vector<float> expected(got.size());
          std::vector<uint8_t> fake_scales(blocks);
          EXPECT_EQ(set.fake_blocks(scaling, x, {n, block}, got.data(), fake_scales.data()),
                    kAllFinite);
          kScalarKernels.fake_blocks(scaling, x, {n, block}, expected.data(), nullptr);
          EXPECT_TRUE(same_bits(got, expected));

          std::vector<uint8_t> codes(got.size());
          std::vector<uint8_t> expected_codes(got.size());
          std::vector<uint8_t> scales(blocks);
          std::vector<uint8_t> expected_scales(blocks);
          set.encode_blocks(scaling, x, {n, block}, codes.data(), scales.data());
          kScalarKernels.encode_blocks(scaling, x, {n, block}, expected_codes.data(),
                                       expected_scales.data());
          EXPECT_EQ(codes, expected_codes);
          EXPECT_EQ(scales, expected_scales);
          EXPECT_EQ(fake_scales, expected_scales);
          std::fill(fake_scales.begin(), fake_scales.end(), uint8_t{1});
          kScalarKernels.fake_blocks(scaling, x, {n, block}, expected.data(), fake_scales.data());
          EXPECT_EQ(fake_scales, expected_scales);
        });
      }
    }
  }
}

TEST_P(EveryKernelSet, WorksInPlace) {
  const BlockScaling scaling =
      formats::block_scaling(formats::format_by_name("mxint4").element, formats::ExponentRule::Mse);
  auto values = testing::gaussian_values(97, 1);
  std::vector<float> expected(values.size());
  kScalarKernels.fake_blocks(scaling, values.data(), {97, 32}, expected.data(), nullptr);
  set.fake_blocks(scaling, values.data(), {97, 32}, values.data(), nullptr);
  EXPECT_TRUE(same_bits(values, expected));
}

TEST_P(EveryKernelSet, ReportsTheGroupThatIsNotFinite) {
  const formats::Element& element = formats::format_by_name("mxfp4").element;
  const BlockScaling scaling = formats::block_scaling(element, formats::ExponentRule::Floor);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    auto values = testing::gaussian_values(100, 2);
    values[69] = bad;
    std::vector<float> out(values.size());
    EXPECT_EQ(set.fake_blocks(scaling, values.data(), {100, 32}, out.data(), nullptr), 2);
    EXPECT_EQ(set.fake_groups(element, values.data(), {100, 10}, out.data()), 6);
    EXPECT_GE(set.absmax_bits(values.data(), 100), formats::kFloatInfinityBits);
  }
}

TEST_P(EveryKernelSet, PacksTwoCodesAByteAndBack) {
  Rng rng(4);
  for (const int64_t n : kLengths) {
    std::vector<uint8_t> codes(static_cast<size_t>(n));
    for (uint8_t& code : codes) code = static_cast<uint8_t>(rng.below(16));
    std::vector<uint8_t> packed(static_cast<size_t>((n + 1) / 2));
    std::vector<uint8_t> expected(packed.size());
    set.pack4(codes.data(), n, packed.data());
    kScalarKernels.pack4(codes.data(), n, expected.data());
    EXPECT_EQ(packed, expected);
    std::vector<uint8_t> unpacked(codes.size());
    set.unpack4(packed.data(), n, unpacked.data());
    EXPECT_EQ(unpacked, codes);
  }
}

std::vector<std::string> set_names() {
  std::vector<std::string> names;
  for (const KernelSet* set : available_kernels()) names.emplace_back(set->name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Available, EveryKernelSet, ::testing::ValuesIn(set_names()),
                         [](const auto& test) { return test.param; });

TEST(Kernels, EvenCodeIsInTheLowHalf) {
  const uint8_t codes[] = {0x1, 0x2, 0x3};
  uint8_t packed[2];
  kScalarKernels.pack4(codes, 3, packed);
  EXPECT_EQ(packed[0], 0x21);
  EXPECT_EQ(packed[1], 0x03);
}

}  // namespace
}  // namespace driftless::quant
