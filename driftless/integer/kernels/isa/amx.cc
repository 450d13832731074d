// SPDX-License-Identifier: Apache-2.0
// AMX: one instruction multiplies 16 rows by 16 columns, 64 values deep, in 16 clocks. Rows and
// panels are loaded as they lie: a row's 64 bytes are a row of its tile, and 16 steps of a panel
// are the 16 rows of one whose columns have four values each.
//
// 32 rows x 32 columns of sums are four registers, two more hold rows and two columns; fewer sums
// at a time would wait for each other:
//
//             columns 0-15 (6)   16-31 (7)
//   rows (4)        0               1
//   rows (5)        2               3
//
// The last rows may overlap those before. What has fewer than 16 rows, and sums per block, are
// multiplied by vectors. Around an instruction on tiles, for about 130 clocks, vectors of 512 bits
// have one port instead of two (measured on Sapphire Rapids): hence many rows at a time, and their
// floats when all sums are there.
#include <cstring>

#include <immintrin.h>

#include "driftless/integer/kernels/amx_config.h"
#include "driftless/integer/kernels/dot_kernels.h"
#include "driftless/quant/kernels/kernel_set.h"

namespace driftless::integer {
namespace {

#include "driftless/integer/kernels/isa/avx512_dot.inc"

using Vectors = DotKernels<Avx512Vnni>;

constexpr int64_t kTileRows = 16;
constexpr int64_t kLanes = 16;
constexpr int64_t kTileSteps = 16;
constexpr int64_t kTileDepth = kTileSteps * kStep;
constexpr int64_t kMaxRows = 6 * kTileRows;
constexpr int64_t kColumns = 2 * kLanes;
constexpr int64_t kPanelStride = kColumns * kStep;

void begin() noexcept { _tile_loadconfig(&kAmxConfig); }
void end() noexcept { _tile_release(); }

/// The sums of 16 rows in registers 0 and 1. A distance of zero loads one row of starts into all.
inline void add_rows(const TileArgs& args, const uint8_t* rows) noexcept {
  const int8_t* panel = args.panel;
  _tile_loadd(0, args.starts, 0);
  _tile_loadd(1, args.starts + kLanes, 0);
  for (int64_t step = 0; step < args.steps; step += kTileSteps) {
    _tile_loadd(4, rows, args.row_stride);
    _tile_loadd(6, panel, kPanelStride);
    _tile_dpbusd(0, 4, 6);
    _tile_loadd(7, panel + kLanes * kStep, kPanelStride);
    _tile_dpbusd(1, 4, 7);
    rows += kTileDepth;
    panel += kTileSteps * kPanelStride;
  }
}

/// The sums of 16 rows in registers 0 and 1, of 16 more from `next` on in 2 and 3.
inline void add_rows_twice(const TileArgs& args, const uint8_t* rows,
                           const uint8_t* next) noexcept {
  const int8_t* panel = args.panel;
  _tile_loadd(0, args.starts, 0);
  _tile_loadd(1, args.starts + kLanes, 0);
  _tile_loadd(2, args.starts, 0);
  _tile_loadd(3, args.starts + kLanes, 0);
  for (int64_t step = 0; step < args.steps; step += kTileSteps) {
    _tile_loadd(4, rows, args.row_stride);
    _tile_loadd(6, panel, kPanelStride);
    _tile_dpbusd(0, 4, 6);
    _tile_loadd(7, panel + kLanes * kStep, kPanelStride);
    _tile_dpbusd(1, 4, 7);
    _tile_loadd(5, next, args.row_stride);
    _tile_dpbusd(2, 5, 6);
    _tile_dpbusd(3, 5, 7);
    rows += kTileDepth;
    next += kTileDepth;
    panel += kTileSteps * kPanelStride;
  }
}

/// The sums of 16 rows or more to `out`, rows `stride` apart.
inline void store_whole(const TileArgs& args, int64_t rows, int32_t* out, int64_t stride) noexcept {
  const int64_t bytes = stride * static_cast<int64_t>(sizeof(int32_t));
  for (int64_t row = 0; row < rows; row += 2 * kTileRows) {
    const int64_t last = rows - kTileRows;
    const int64_t first = row < last ? row : last;
    const int64_t second = row + kTileRows < last ? row + kTileRows : last;
    if (first == second) {
      add_rows(args, args.rows + first * args.row_stride);
    } else {
      add_rows_twice(args, args.rows + first * args.row_stride,
                     args.rows + second * args.row_stride);
      _tile_stored(2, out + second * stride, bytes);
      _tile_stored(3, out + second * stride + kLanes, bytes);
    }
    _tile_stored(0, out + first * stride, bytes);
    _tile_stored(1, out + first * stride + kLanes, bytes);
  }
}

/// Fewer than 16 rows, in one or two tiles of vectors. T is what a result is.
template <class TileOfRows, class T>
void by_vectors(const TileArgs& args, int64_t rows) noexcept {
  constexpr auto kMost = static_cast<int64_t>(Avx512Vnni::kMaxRows);
  const int64_t first = rows < kMost ? rows : kMost;
  dispatch_rows<TileOfRows, Avx512Vnni::kMaxRows>(args, first);
  if (first == rows) return;
  TileArgs rest = args;
  rest.rows += first * args.row_stride;
  rest.row_scales += first;
  rest.out = static_cast<T*>(args.out) + first * args.out_stride;
  dispatch_rows<TileOfRows, Avx512Vnni::kMaxRows>(rest, rows - first);
}

void whole_sums(const TileArgs& args, int64_t rows) noexcept {
  if (rows < kTileRows) return by_vectors<Vectors::WholeSums, int32_t>(args, rows);
  store_whole(args, rows, static_cast<int32_t*>(args.out), args.out_stride);
}

void whole_products(const TileArgs& args, int64_t rows) noexcept {
  if (rows < kTileRows) return by_vectors<Vectors::WholeProducts, float>(args, rows);
  alignas(64) int32_t sums[kMaxRows * kColumns];
  store_whole(args, rows, sums, kColumns);
  auto* out = static_cast<float*>(args.out);
  for (int64_t row = 0; row < rows; ++row, out += args.out_stride) {
    for (int64_t column = 0; column < kColumns; column += kLanes) {
      Avx512Vnni::store_scaled(out + column, _mm512_load_si512(sums + row * kColumns + column),
                               args.column_scales + column, args.row_scales[row]);
    }
  }
}

int64_t peak(int64_t rounds) noexcept {
  begin();
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (int64_t round = rounds; round > 0; --round) {
    _tile_dpbusd(0, 4, 6);
    _tile_dpbusd(1, 4, 7);
    _tile_dpbusd(2, 5, 6);
    _tile_dpbusd(3, 5, 7);
  }
  end();
  return rounds * 4 * kTileRows * kLanes * kTileDepth;
}

constexpr KernelSet make_set() noexcept {
  KernelSet set = Vectors::set("amx", &kEncoders);
  set.whole = {kMaxRows, whole_sums, whole_products};
  set.peak = peak;
  set.depth = kTileDepth;
  set.begin = begin;
  set.end = end;
  return set;
}

}  // namespace

namespace amx {
extern constinit const KernelSet kKernels = make_set();
}  // namespace amx

}  // namespace driftless::integer
