// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/tensor.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "driftless/base/error.h"
#include "driftless/formats/minifloat.h"

namespace driftless::store {
namespace {

static_assert(std::endian::native == std::endian::little,
              "files are little-endian, and so is this");

template <class Raw, class Decode>
std::vector<float> decode_all(const TensorView& tensor, Decode decode) {
  std::vector<float> values(tensor.bytes.size() / sizeof(Raw));
  for (size_t i = 0; i < values.size(); ++i) {
    Raw raw{};
    std::memcpy(&raw, tensor.bytes.data() + i * sizeof(Raw), sizeof(Raw));
    values[i] = decode(raw);
  }
  return values;
}

template <class Format>
std::vector<std::byte> encode_halves(std::span<const float> values, DType dtype,
                                     std::string_view where) {
  constexpr float kMax = Format::decode(Format::kMaxCode);
  std::vector<std::byte> bytes(values.size() * sizeof(uint16_t));
  for (size_t i = 0; i < values.size(); ++i) {
    DRIFTLESS_REQUIRE(std::abs(values[i]) <= kMax, ErrorCode::Numeric, where, ": value ", i,
                      " does not fit ", info(dtype).name, "; got ", values[i],
                      ", expected at most ", kMax);
    const uint16_t code = Format::encode(values[i]);
    std::memcpy(bytes.data() + i * sizeof(code), &code, sizeof(code));
  }
  return bytes;
}

}  // namespace

const DTypeInfo& info(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  DRIFTLESS_ASSERT(kDTypes.at(index).dtype == dtype);
  return kDTypes.at(index);
}

std::optional<int64_t> element_count(std::span<const int64_t> shape) {
  // An extent of 0 makes the product 0 whatever the others are.
  for (const int64_t extent : shape)
    if (extent == 0) return 0;
  int64_t count = 1;
  for (const int64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  return count;
}

std::optional<int64_t> byte_count(DType dtype, std::span<const int64_t> shape) {
  const auto count = element_count(shape);
  int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, info(dtype).size_bytes, &bytes)) return std::nullopt;
  return bytes;
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::vector<float> to_float32(const TensorView& tensor, std::string_view where) {
  switch (tensor.dtype) {
    case DType::F32:
      return decode_all<float>(tensor, [](float value) { return value; });
    case DType::F64:
      return decode_all<double>(tensor, [](double value) { return static_cast<float>(value); });
    case DType::F16:
      return decode_all<uint16_t>(tensor, formats::Fp16::decode);
    case DType::BF16:
      return decode_all<uint16_t>(tensor, formats::Bf16::decode);
    default:
      fail(ErrorCode::Unsupported, where, ": wrong element type; got ", info(tensor.dtype).name,
           ", expected F32, F16, BF16 or F64");
  }
}

std::vector<std::byte> from_float32(std::span<const float> values, DType dtype,
                                    std::string_view where) {
  if (dtype == DType::F32) {
    const auto bytes = std::as_bytes(values);
    return {bytes.begin(), bytes.end()};
  }
  if (dtype == DType::F16) return encode_halves<formats::Fp16>(values, dtype, where);
  if (dtype == DType::BF16) return encode_halves<formats::Bf16>(values, dtype, where);
  fail(ErrorCode::Unsupported, where, ": cannot store weights as ", info(dtype).name,
       "; expected F32, F16 or BF16");
}

}  // namespace driftless::store
