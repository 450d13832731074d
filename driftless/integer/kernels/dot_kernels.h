// SPDX-License-Identifier: Apache-2.0
// Tiles for instruction sets that multiply four bytes and add them to a 32-bit lane at once,
// written over a vector type V that each such set provides. V and everything made from it live in
// that file's anonymous namespace.
//
// Additions and left shifts are modulo 2^32, so that partial sums may wrap as they like: the whole
// sum fits (largest_k in product.h).
#pragma once

#include "driftless/integer/kernels/unroll.h"

namespace driftless::integer {

template <class V>
struct DotKernels {
  using I = typename V::I;
  static constexpr int64_t kLanes = V::kLanes;
  static constexpr size_t kVectors = V::kVectors;
  static constexpr int64_t kColumns = static_cast<int64_t>(kVectors) * kLanes;

  template <size_t kRows>
  using Sums = I[kRows][kVectors];

  /// Where vector v of a row of `columns` values begins.
  static constexpr int64_t place(size_t v) noexcept { return static_cast<int64_t>(v) * kLanes; }

  /// One step of every row against the panel's vectors.
  template <size_t kRows>
  [[gnu::always_inline]] static void add_step(const RowPointers<kRows>& rows, const int8_t* panel,
                                              Sums<kRows>& sums) noexcept {
    I columns[kVectors];
    DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) {
      columns[v] = V::load(panel + place(v) * kStep);
    }
    DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
      const I row = V::broadcast(rows.at(r));
      DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) V::dot(sums[r][v], row, columns[v]);
    }
  }

  template <size_t kRows>
  [[gnu::always_inline]] static void start(const int32_t* starts, Sums<kRows>& sums) noexcept {
    DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) {
      const I first = V::load(starts + place(v));
      DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) sums[r][v] = first;
    }
  }

  template <size_t kRows>
  [[gnu::always_inline]] static void add_whole(const TileArgs& args, Sums<kRows>& sums) noexcept {
    start<kRows>(args.starts, sums);
    RowPointers<kRows> rows(args);
    const int8_t* panel = args.panel;
    for (int64_t step = args.steps; step > 0; --step) {
      add_step<kRows>(rows, panel, sums);
      rows.advance();
      panel += kColumns * kStep;
    }
  }

  template <size_t kRows>
  [[gnu::always_inline]] static void add_blocks(const TileArgs& args, Sums<kRows>& sums) noexcept {
    DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
      DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) sums[r][v] = V::set(0);
    }
    RowPointers<kRows> rows(args);
    const int8_t* panel = args.panel;
    for (int64_t block = 0; block < args.blocks; ++block) {
      Sums<kRows> parts;
      start<kRows>(args.starts + block * kColumns, parts);
      const int64_t rest = args.steps - block * kBlockSteps;
      for (int64_t step = rest < kBlockSteps ? rest : kBlockSteps; step > 0; --step) {
        add_step<kRows>(rows, panel, parts);
        rows.advance();
        panel += kColumns * kStep;
      }
      const int32_t* const shifts = args.shifts + block * kColumns;
      DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
        const I row_shift = V::set(args.row_shifts[static_cast<int64_t>(r) * args.blocks + block]);
        DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) {
          const I shift = V::add(V::load(shifts + place(v)), row_shift);
          sums[r][v] = V::add(sums[r][v], V::shift_left(parts[r][v], shift));
        }
      }
    }
  }

  template <size_t kRows>
  [[gnu::always_inline]] static void store_sums(const TileArgs& args,
                                                const Sums<kRows>& sums) noexcept {
    auto* out = static_cast<int32_t*>(args.out);
    DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
      DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) V::store(out + place(v), sums[r][v]);
      out += args.out_stride;
    }
  }

  template <size_t kRows>
  [[gnu::always_inline]] static void store_products(const TileArgs& args,
                                                    const Sums<kRows>& sums) noexcept {
    auto* out = static_cast<float*>(args.out);
    DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
      DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) {
        V::store_scaled(out + place(v), sums[r][v], args.column_scales + place(v),
                        args.row_scales[r]);
      }
      out += args.out_stride;
    }
  }

  struct WholeSums {
    template <size_t kRows>
    static void run(const TileArgs& args) noexcept {
      Sums<kRows> sums;
      add_whole<kRows>(args, sums);
      store_sums<kRows>(args, sums);
    }
  };
  struct WholeProducts {
    template <size_t kRows>
    static void run(const TileArgs& args) noexcept {
      Sums<kRows> sums;
      add_whole<kRows>(args, sums);
      store_products<kRows>(args, sums);
    }
  };
  struct BlockSums {
    template <size_t kRows>
    static void run(const TileArgs& args) noexcept {
      Sums<kRows> sums;
      add_blocks<kRows>(args, sums);
      store_sums<kRows>(args, sums);
    }
  };
  struct BlockProducts {
    template <size_t kRows>
    static void run(const TileArgs& args) noexcept {
      Sums<kRows> sums;
      add_blocks<kRows>(args, sums);
      store_products<kRows>(args, sums);
    }
  };

  static int64_t peak(int64_t rounds) noexcept {
    constexpr size_t kRows = V::kMaxRows;
    Sums<kRows> sums;
    DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
      DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) sums[r][v] = V::set(0);
    }
    const I bytes = V::set(0x01010101);
    for (int64_t round = rounds; round > 0; --round) {
      DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
        DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) V::dot(sums[r][v], bytes, bytes);
      }
    }
    I all = V::set(0);
    DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
      DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) all = V::add(all, sums[r][v]);
    }
    int32_t lanes[static_cast<size_t>(kLanes)];
    V::store(lanes, all);
    [[maybe_unused]] const volatile int32_t kept = lanes[0];
    return rounds * static_cast<int64_t>(kRows) * kColumns * kStep;
  }

  static constexpr KernelSet set(std::string_view name,
                                 const Encoders* encoders = nullptr) noexcept {
    constexpr size_t kRows = V::kMaxRows;
    constexpr size_t kBlockRows = V::kMaxBlockRows;
    static_assert(kRows <= size_t{kMostTileRows} && kMostColumns % kColumns == 0);
    return {.name = name,
            .columns = kColumns,
            .row_flip = V::kRowFlip,
            .has_digits = false,
            .shift_form = ShiftForm::Count,
            .whole = {kRows, dispatch_rows<WholeSums, kRows>, dispatch_rows<WholeProducts, kRows>},
            .per_block = {kBlockRows, dispatch_rows<BlockSums, kBlockRows>,
                          dispatch_rows<BlockProducts, kBlockRows>},
            .peak = peak,
            .encoders = encoders};
  }
};

}  // namespace driftless::integer
