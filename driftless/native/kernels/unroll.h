// SPDX-License-Identifier: Apache-2.0
// Loops whose every pass is compiled apart. An array of vectors stays in registers only when no
// index into it is a variable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "driftless/native/kernels/kernel_set.h"

namespace driftless::native {

/// Calls body(std::integral_constant<int, i>) for i = 0 ... kCount - 1.
template <size_t kCount, class Body>
[[gnu::always_inline]] inline void unroll(const Body& body) noexcept {
  [&]<int... i>(std::integer_sequence<int, i...>) noexcept __attribute__((always_inline)) {
    (body(std::integral_constant<int, i>{}), ...);
  }
  (std::make_integer_sequence<int, static_cast<int>(kCount)>{});
}

/// Calls tile<rows>(args): the function of each number of rows from 1 to kMaxRows is compiled
/// apart.
template <class TileOfRows, size_t kMaxRows>
void dispatch_rows(const TileArgs& args, int64_t rows) noexcept {
  using Function = void (*)(const TileArgs&) noexcept;
  static constexpr auto kFunctions = []<int... i>(std::integer_sequence<int, i...>) {
    struct Table {
      Function functions[sizeof...(i)];
    };
    return Table{{&TileOfRows::template run<i + 1>...}};
  }
  (std::make_integer_sequence<int, static_cast<int>(kMaxRows)>{});
  kFunctions.functions[rows - 1](args);
}

/// The addresses of kRows rows, four to a pointer: with the distance of one row, two and three in
/// registers the others are free address arithmetic.
template <size_t kRows>
struct RowPointers {
  const uint8_t* quads[(kRows + 3) / 4];
  int64_t stride;
  int64_t twice;
  int64_t thrice;

  explicit RowPointers(const TileArgs& args) noexcept
      : stride(args.row_stride), twice(2 * args.row_stride), thrice(3 * args.row_stride) {
    unroll<(kRows + 3) / 4>([&](auto i) { quads[i] = args.rows + 4 * i * stride; });
  }

  template <int kRow>
  [[nodiscard, gnu::always_inline]] const uint8_t* at(
      std::integral_constant<int, kRow>) const noexcept {
    constexpr int kPlace = kRow % 4;
    const uint8_t* const quad = quads[kRow / 4];
    if constexpr (kPlace == 0) return quad;
    if constexpr (kPlace == 1) return quad + stride;
    if constexpr (kPlace == 2) return quad + twice;
    return quad + thrice;
  }

  [[gnu::always_inline]] void advance() noexcept {
    unroll<(kRows + 3) / 4>([&](auto i) { quads[i] += kStep; });
  }
};

}  // namespace driftless::native
