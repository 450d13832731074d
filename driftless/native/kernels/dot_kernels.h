// SPDX-License-Identifier: Apache-2.0
// Tiles for instruction sets that multiply four bytes and add them to a 32-bit lane at once,
// written over a vector type V that each such set provides. V and everything made from it live in
// that file's anonymous namespace.
//
// Additions and left shifts are modulo 2^32, so that partial sums may wrap as they like: the whole
// sum fits (largest_k in product.h).
#pragma once

#include "driftless/native/kernels/unroll.h"

namespace driftless::native {

template <class V>
struct DotKernels {
  using I = typename V::I;
  static constexpr size_t kVectors = V::kVectors;
  static constexpr int64_t kColumns = static_cast<int64_t>(V::kVectors) * V::kLanes;

  template <size_t kRows>
  using Sums = I[kRows][kVectors];

  /// One step of every row against the panel's vectors.
  template <size_t kRows>
  [[gnu::always_inline]] static void add_step(const RowPointers<kRows>& rows, const int8_t* panel,
                                              Sums<kRows>& sums) noexcept {
    I columns[kVectors];
    unroll<kVectors>([&](auto v) { columns[v] = V::load(panel + v * V::kLanes * kStep); });
    unroll<kRows>([&](auto r) {
      const I row = V::broadcast(rows.at(r));
      unroll<kVectors>([&](auto v) { V::dot(sums[r][v], row, columns[v]); });
    });
  }

  template <size_t kRows>
  [[gnu::always_inline]] static void start(const int32_t* starts, Sums<kRows>& sums) noexcept {
    unroll<kVectors>([&](auto v) {
      const I first = V::load(starts + v * V::kLanes);
      unroll<kRows>([&](auto r) { sums[r][v] = first; });
    });
  }

  template <size_t kRows>
  [[gnu::always_inline]] static void add_whole(const TileArgs& args, Sums<kRows>& sums) noexcept {
    start<kRows>(args.starts, sums);
    RowPointers<kRows> rows(args);
    const int8_t* panel = args.panel;
    for (int64_t step = 0; step < args.steps; ++step) {
      add_step<kRows>(rows, panel, sums);
      rows.advance();
      panel += kColumns * kStep;
    }
  }

  template <size_t kRows>
  [[gnu::always_inline]] static void add_blocks(const TileArgs& args, Sums<kRows>& sums) noexcept {
    unroll<kRows>([&](auto r) { unroll<kVectors>([&](auto v) { sums[r][v] = V::set(0); }); });
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
      unroll<kRows>([&](auto r) {
        const I row_shift = V::set(args.row_shifts[r * args.blocks + block]);
        unroll<kVectors>([&](auto v) {
          const I shift = V::load(args.shifts + block * kColumns + v * V::kLanes);
          sums[r][v] = V::add(sums[r][v], V::shift_left(parts[r][v], V::add(shift, row_shift)));
        });
      });
    }
  }

  template <size_t kRows>
  [[gnu::always_inline]] static void store_sums(const TileArgs& args,
                                                const Sums<kRows>& sums) noexcept {
    auto* const out = static_cast<int32_t*>(args.out);
    unroll<kRows>([&](auto r) {
      unroll<kVectors>(
          [&](auto v) { V::store(out + r * args.out_stride + v * V::kLanes, sums[r][v]); });
    });
  }

  template <size_t kRows>
  [[gnu::always_inline]] static void store_products(const TileArgs& args,
                                                    const Sums<kRows>& sums) noexcept {
    auto* const out = static_cast<float*>(args.out);
    unroll<kRows>([&](auto r) {
      unroll<kVectors>([&](auto v) {
        const float* const scales = args.column_scales + v * V::kLanes;
        V::store_scaled(out + r * args.out_stride + v * V::kLanes, sums[r][v], scales,
                        args.row_scales[r]);
      });
    });
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

  static constexpr KernelSet set(std::string_view name) noexcept {
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
                          dispatch_rows<BlockProducts, kBlockRows>}};
  }
};

}  // namespace driftless::native
