// SPDX-License-Identifier: Apache-2.0
// Tiles for instruction sets without a 32-bit dot product. The products of a block are added in 16
// bits, which digits of at most 4 bits cannot fill, and then widened, shifted and added to 32-bit
// sums:
//
//   AVX2  255 (a flipped row byte) * 8 (a digit) * 2 (values a 16-bit lane) * 8 (steps) = 32640
//   NEON  128 * 8 * 8 steps = 8192, and twice that when neighbors are added
//
// Written over a vector type V as in dot_kernels.h; V::Narrow holds the 16-bit sums of one vector
// of columns.
#pragma once

#include "driftless/integer/kernels/unroll.h"

namespace driftless::integer {

template <class V>
struct DigitKernels {
  using I = typename V::I;
  using Bytes = typename V::Bytes;
  using Narrow = typename V::Narrow;
  static constexpr int64_t kLanes = V::kLanes;
  static constexpr size_t kVectors = V::kVectors;
  static constexpr int64_t kColumns = static_cast<int64_t>(kVectors) * kLanes;
  static constexpr size_t kMaxRows = V::kMaxRows;
  enum class Shifts : uint8_t { InRows, PerBlock };

  template <size_t kRows>
  using Sums = I[kRows][kVectors];
  template <size_t kRows>
  using NarrowSums = Narrow[kRows][kVectors];

  /// Where vector v of a row of `columns` values begins.
  static constexpr int64_t place(size_t v) noexcept { return static_cast<int64_t>(v) * kLanes; }

  /// The 16-bit sums of `steps` steps, which the panel moves past.
  template <size_t kRows>
  [[gnu::always_inline]] static void add_narrow(RowPointers<kRows> rows, const int8_t*& panel,
                                                int64_t steps, NarrowSums<kRows>& sums) noexcept {
    DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
      DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) sums[r][v] = V::narrow_zero();
    }
    for (; steps > 0; --steps) {
      Bytes columns[kVectors];
      DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) {
        columns[v] = V::load_bytes(panel + place(v) * kStep);
      }
      DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
        const Bytes row = V::broadcast(rows.at(r));
        DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) {
          V::narrow_add(sums[r][v], row, columns[v]);
        }
      }
      rows.advance();
      panel += kColumns * kStep;
    }
  }

  template <Shifts kShifts>
  [[gnu::always_inline]] static void add_shifted(I part, int row_shift, I& sum) noexcept {
    sum = V::add(sum, kShifts == Shifts::PerBlock ? V::shift_left(part, row_shift) : part);
  }

  template <size_t kRows, Shifts kShifts>
  [[gnu::always_inline]] static void add_blocks(const TileArgs& args, Sums<kRows>& sums) noexcept {
    DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) {
      const I first = kShifts == Shifts::InRows ? V::load(args.starts + place(v)) : V::set(0);
      DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) sums[r][v] = first;
    }
    RowPointers<kRows> rows(args);
    const int8_t* panel = args.panel;
    for (int64_t block = 0; block < args.blocks; ++block) {
      const int64_t rest = args.steps - block * kBlockSteps;
      const int64_t steps = rest < kBlockSteps ? rest : kBlockSteps;
      if constexpr (kShifts == Shifts::PerBlock) add_starts<kRows>(args, block, sums);
      for (int64_t plane = 0; plane < args.planes; ++plane) {
        NarrowSums<kRows> narrow;
        add_narrow<kRows>(rows, panel, steps, narrow);
        const int32_t* const shifts = args.shifts + (block * args.planes + plane) * kColumns;
        DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
          const int row_shift = args.row_shifts[static_cast<int64_t>(r) * args.blocks + block];
          DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) {
            const I part = V::widen(narrow[r][v], V::load(shifts + place(v)));
            add_shifted<kShifts>(part, row_shift, sums[r][v]);
          }
        }
      }
      for (int64_t step = 0; step < kBlockSteps; ++step) rows.advance();
    }
  }

  template <size_t kRows>
  [[gnu::always_inline]] static void add_starts(const TileArgs& args, int64_t block,
                                                Sums<kRows>& sums) noexcept {
    DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
      const int row_shift = args.row_shifts[static_cast<int64_t>(r) * args.blocks + block];
      DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) {
        const I first = V::load(args.starts + block * kColumns + place(v));
        add_shifted<Shifts::PerBlock>(first, row_shift, sums[r][v]);
      }
    }
  }

  template <Shifts kShifts>
  struct SumTile {
    template <size_t kRows>
    static void run(const TileArgs& args) noexcept {
      Sums<kRows> sums;
      add_blocks<kRows, kShifts>(args, sums);
      auto* out = static_cast<int32_t*>(args.out);
      DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
        DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) V::store(out + place(v), sums[r][v]);
        out += args.out_stride;
      }
    }
  };

  template <Shifts kShifts>
  struct ProductTile {
    template <size_t kRows>
    static void run(const TileArgs& args) noexcept {
      Sums<kRows> sums;
      add_blocks<kRows, kShifts>(args, sums);
      auto* out = static_cast<float*>(args.out);
      DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
        DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) {
          V::store_scaled(out + place(v), sums[r][v], args.column_scales + place(v),
                          args.row_scales[r]);
        }
        out += args.out_stride;
      }
    }
  };

  static int64_t peak(int64_t rounds) noexcept {
    NarrowSums<kMaxRows> sums;
    DRIFTLESS_UNROLL for (size_t r = 0; r < kMaxRows; ++r) {
      DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) sums[r][v] = V::narrow_zero();
    }
    constexpr uint8_t kOnes[] = {1, 1, 1, 1};
    const Bytes bytes = V::broadcast(kOnes);
    for (int64_t round = rounds; round > 0; --round) {
      DRIFTLESS_UNROLL for (size_t r = 0; r < kMaxRows; ++r) {
        DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) {
          V::narrow_add(sums[r][v], bytes, bytes);
        }
      }
    }
    I all = V::set(0);
    DRIFTLESS_UNROLL for (size_t r = 0; r < kMaxRows; ++r) {
      DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) {
        all = V::add(all, V::widen(sums[r][v], V::set(1)));
      }
    }
    int32_t lanes[static_cast<size_t>(kLanes)];
    V::store(lanes, all);
    [[maybe_unused]] const volatile int32_t kept = lanes[0];
    return rounds * static_cast<int64_t>(kMaxRows) * kColumns * kStep;
  }

  template <Shifts kShifts>
  static constexpr Tiles tiles() noexcept {
    return {kMaxRows, dispatch_rows<SumTile<kShifts>, kMaxRows>,
            dispatch_rows<ProductTile<kShifts>, kMaxRows>};
  }

  static constexpr KernelSet set(std::string_view name) noexcept {
    static_assert(kMaxRows <= size_t{kMostTileRows} && kMostColumns % kColumns == 0);
    return {.name = name,
            .columns = kColumns,
            .row_flip = V::kRowFlip,
            .has_digits = true,
            .shift_form = V::kShiftForm,
            .whole = tiles<Shifts::InRows>(),
            .per_block = tiles<Shifts::PerBlock>(),
            .peak = peak};
  }
};

}  // namespace driftless::integer
