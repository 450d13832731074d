// SPDX-License-Identifier: Apache-2.0
// What the tiles of all instruction sets share: loops that are unrolled whole, because an array of
// vectors stays in registers only when no index into it is a variable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "driftless/integer/kernels/kernel_set.h"

#if defined(__clang__)
#define DRIFTLESS_UNROLL _Pragma("clang loop unroll(full)")
#else
#define DRIFTLESS_UNROLL _Pragma("GCC unroll 16")
#endif

namespace driftless::integer {

/// Calls TileOfRows::run<rows>(args): each number of rows from 1 to kMaxRows is compiled apart.
template <class TileOfRows, size_t kMaxRows>
void dispatch_rows(const TileArgs& args, int64_t rows) noexcept {
  using Function = void (*)(const TileArgs&) noexcept;
  struct Table {
    Function functions[kMaxRows];
  };
  static constexpr Table kTable = []<size_t... i>(std::index_sequence<i...>) {
    return Table{{&TileOfRows::template run<i + 1>...}};
  }
  (std::make_index_sequence<kMaxRows>{});
  kTable.functions[rows - 1](args);
}

/// The addresses of kRows rows, four to a pointer: with the distance of one row, two and three in
/// registers the others are free address arithmetic.
template <size_t kRows>
struct RowPointers {
  static constexpr size_t kQuads = (kRows + 3) / 4;
  const uint8_t* quads[kQuads];
  int64_t stride;
  int64_t twice;
  int64_t thrice;

  [[gnu::always_inline]] explicit RowPointers(const TileArgs& args) noexcept
      : stride(args.row_stride), twice(2 * args.row_stride), thrice(3 * args.row_stride) {
    DRIFTLESS_UNROLL for (size_t i = 0; i < kQuads; ++i) {
      quads[i] = args.rows + 4 * static_cast<int64_t>(i) * stride;
    }
  }

  /// Of a row that is a constant once the loop around it is unrolled.
  [[nodiscard, gnu::always_inline]] const uint8_t* at(size_t row) const noexcept {
    const uint8_t* const quad = quads[row / 4];
    const size_t place = row % 4;
    return place == 0 ? quad : quad + (place == 1 ? stride : place == 2 ? twice : thrice);
  }

  [[gnu::always_inline]] void advance() noexcept {
    DRIFTLESS_UNROLL for (size_t i = 0; i < kQuads; ++i) quads[i] += kStep;
  }
};

}  // namespace driftless::integer
