// SPDX-License-Identifier: Apache-2.0
// Tiles for instruction sets without a 32-bit dot product. The products of a block are added in 16
// bits, which digits of at most 4 bits cannot fill, and then widened, shifted and added to 32-bit
// sums:
//
//   AVX2  255 (a flipped row byte) * 8 (a digit) * 2 (values a 16-bit lane) * 8 (steps) = 32640
//   NEON  128 * 8 * 8 steps = 8192, and twice that when neighbours are added
//
// Written over a vector type V as in dot_kernels.h; V::Narrow holds the 16-bit sums of one vector
// of columns.
#pragma once

#include "driftless/native/kernels/unroll.h"

namespace driftless::native {

template <class V>
struct DigitKernels {
  using I = typename V::I;
  using Narrow = typename V::Narrow;
  static constexpr size_t kVectors = V::kVectors;
  static constexpr int64_t kColumns = static_cast<int64_t>(V::kVectors) * V::kLanes;
  static constexpr size_t kRows = V::kMaxRows;
  enum class Shifts : uint8_t { InRows, PerBlock };

  template <size_t kTileRows>
  using Sums = I[kTileRows][kVectors];
  template <size_t kTileRows>
  using NarrowSums = Narrow[kTileRows][kVectors];

  /// The 16-bit sums of `steps` steps, which rows and panel move past.
  template <size_t kTileRows>
  [[gnu::always_inline]] static void add_narrow(RowPointers<kTileRows>& rows, const int8_t*& panel,
                                                int64_t steps,
                                                NarrowSums<kTileRows>& sums) noexcept {
    unroll<kTileRows>(
        [&](auto r) { unroll<kVectors>([&](auto v) { sums[r][v] = V::narrow_zero(); }); });
    for (; steps > 0; --steps) {
      typename V::Bytes columns[kVectors];
      unroll<kVectors>([&](auto v) { columns[v] = V::load_bytes(panel + v * V::kLanes * kStep); });
      unroll<kTileRows>([&](auto r) {
        const typename V::Bytes row = V::broadcast(rows.at(r));
        unroll<kVectors>([&](auto v) { V::narrow_add(sums[r][v], row, columns[v]); });
      });
      rows.advance();
      panel += kColumns * kStep;
    }
  }

  template <size_t kTileRows, Shifts kShifts>
  [[gnu::always_inline]] static void add_blocks(const TileArgs& args,
                                                Sums<kTileRows>& sums) noexcept {
    unroll<kVectors>([&](auto v) {
      const I first = kShifts == Shifts::InRows ? V::load(args.starts + v * V::kLanes) : V::set(0);
      unroll<kTileRows>([&](auto r) { sums[r][v] = first; });
    });
    RowPointers<kTileRows> rows(args);
    const int8_t* panel = args.panel;
    for (int64_t block = 0; block < args.blocks; ++block) {
      const int64_t rest = args.steps - block * kBlockSteps;
      const int64_t steps = rest < kBlockSteps ? rest : kBlockSteps;
      if constexpr (kShifts == Shifts::PerBlock) add_starts<kTileRows>(args, block, sums);
      for (int64_t plane = 0; plane < args.planes; ++plane) {
        RowPointers<kTileRows> plane_rows = rows;
        NarrowSums<kTileRows> narrow;
        add_narrow<kTileRows>(plane_rows, panel, steps, narrow);
        const int32_t* const shifts = args.shifts + (block * args.planes + plane) * kColumns;
        unroll<kTileRows>([&](auto r) {
          unroll<kVectors>([&](auto v) {
            const I part = V::widen(narrow[r][v], V::load(shifts + v * V::kLanes));
            add_shifted<kShifts>(args, block, r, part, sums[r][v]);
          });
        });
      }
      unroll<kBlockSteps>([&](auto) { rows.advance(); });
    }
  }

  template <size_t kTileRows>
  [[gnu::always_inline]] static void add_starts(const TileArgs& args, int64_t block,
                                                Sums<kTileRows>& sums) noexcept {
    unroll<kVectors>([&](auto v) {
      const I first = V::load(args.starts + block * kColumns + v * V::kLanes);
      unroll<kTileRows>(
          [&](auto r) { add_shifted<Shifts::PerBlock>(args, block, r, first, sums[r][v]); });
    });
  }

  template <Shifts kShifts>
  [[gnu::always_inline]] static void add_shifted(const TileArgs& args, int64_t block, int row,
                                                 I part, I& sum) noexcept {
    if constexpr (kShifts == Shifts::PerBlock) {
      part = V::shift_left(part, args.row_shifts[row * args.blocks + block]);
    }
    sum = V::add(sum, part);
  }

  template <Shifts kShifts>
  struct SumTile {
    template <size_t kTileRows>
    static void run(const TileArgs& args) noexcept {
      Sums<kTileRows> sums;
      add_blocks<kTileRows, kShifts>(args, sums);
      auto* const out = static_cast<int32_t*>(args.out);
      unroll<kTileRows>([&](auto r) {
        unroll<kVectors>(
            [&](auto v) { V::store(out + r * args.out_stride + v * V::kLanes, sums[r][v]); });
      });
    }
  };

  template <Shifts kShifts>
  struct ProductTile {
    template <size_t kTileRows>
    static void run(const TileArgs& args) noexcept {
      Sums<kTileRows> sums;
      add_blocks<kTileRows, kShifts>(args, sums);
      auto* const out = static_cast<float*>(args.out);
      unroll<kTileRows>([&](auto r) {
        unroll<kVectors>([&](auto v) {
          V::store_scaled(out + r * args.out_stride + v * V::kLanes, sums[r][v],
                          args.column_scales + v * V::kLanes, args.row_scales[r]);
        });
      });
    }
  };

  template <Shifts kShifts>
  static constexpr Tiles tiles() noexcept {
    return {kRows, dispatch_rows<SumTile<kShifts>, kRows>,
            dispatch_rows<ProductTile<kShifts>, kRows>};
  }

  static constexpr KernelSet set(std::string_view name) noexcept {
    static_assert(kRows <= size_t{kMostTileRows} && kMostColumns % kColumns == 0);
    return {.name = name,
            .columns = kColumns,
            .row_flip = V::kRowFlip,
            .has_digits = true,
            .shift_form = V::kShiftForm,
            .whole = tiles<Shifts::InRows>(),
            .per_block = tiles<Shifts::PerBlock>()};
  }
};

}  // namespace driftless::native
