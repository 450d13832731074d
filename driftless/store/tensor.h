// SPDX-License-Identifier: Apache-2.0
// Tensors as files hold them: an element type, a shape and little-endian bytes, row-major.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace driftless::store {

enum class DType { Bool, U8, I8, U16, I16, F16, BF16, U32, I32, F32, U64, I64, F64 };

struct DTypeInfo {
  DType dtype;
  std::string_view name;  // as safetensors spells it
  int64_t size_bytes;
};
inline constexpr std::array<DTypeInfo, 13> kDTypes = {{{DType::Bool, "BOOL", 1},
                                                       {DType::U8, "U8", 1},
                                                       {DType::I8, "I8", 1},
                                                       {DType::U16, "U16", 2},
                                                       {DType::I16, "I16", 2},
                                                       {DType::F16, "F16", 2},
                                                       {DType::BF16, "BF16", 2},
                                                       {DType::U32, "U32", 4},
                                                       {DType::I32, "I32", 4},
                                                       {DType::F32, "F32", 4},
                                                       {DType::U64, "U64", 8},
                                                       {DType::I64, "I64", 8},
                                                       {DType::F64, "F64", 8}}};

const DTypeInfo& info(DType dtype);

/// Looks at bytes that something else owns; they need not be aligned.
struct TensorView {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
};

/// Product of the extents, or nothing when it exceeds int64_t. Requires extents >= 0.
std::optional<int64_t> element_count(std::span<const int64_t> shape);

/// Bytes of a tensor of this type and shape, or nothing when that exceeds int64_t.
std::optional<int64_t> byte_count(DType dtype, std::span<const int64_t> shape);

/// "[2, 512]"
std::string shape_text(std::span<const int64_t> shape);

/// Every value as float32: exact for F16, BF16 and F32, rounded to nearest for F64. Throws
/// Unsupported for types that are not floating point; `where` starts the message.
std::vector<float> to_float32(const TensorView& tensor, std::string_view where);

/// Values as bytes of a floating-point type, rounded to nearest, ties to even. Throws Numeric where
/// a value is beyond the largest of F16 or BF16, or NaN; Unsupported for other types than those and
/// F32.
std::vector<std::byte> from_float32(std::span<const float> values, DType dtype,
                                    std::string_view where);

}  // namespace driftless::store
