// SPDX-License-Identifier: Apache-2.0
// NumPy array files, versions 1 to 3: unsigned bytes, 32- and 64-bit integers and float32,
// row-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/store/tensor.h"

namespace driftless::store {

/// A view into the bytes of an npy file. Element types: |u1, <i4, <i8, <f4. `where` starts every
/// message. Throws BadFile, or Unsupported for another element type or for Fortran order.
TensorView parse_npy(std::span<const std::byte> file, std::string_view where);

/// The values of a U8, I32 or I64 tensor. Throws Unsupported for other types.
std::vector<int64_t> to_integers(const TensorView& tensor, std::string_view where);

/// The bytes of an npy file, version 1. Throws Unsupported for other types than parse_npy reads.
std::string to_npy(const TensorView& tensor);

}  // namespace driftless::store
