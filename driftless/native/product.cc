// SPDX-License-Identifier: Apache-2.0
#include "driftless/native/product.h"

#include <algorithm>
#include <cstring>

#include "driftless/base/error.h"

namespace driftless::native {
namespace {

/// Tasks per thread, so that one that starts late leaves little to wait for.
constexpr int64_t kTasksPerThread = 4;

bool sums_whole(const RowMatrix& left, const PanelMatrix& right) noexcept {
  return left.form.fits_bytes() && right.form.fits_bytes();
}

template <class T>
void require_suited(const RowMatrix& left, const PanelMatrix& right, quant::MatView<T> out) {
  DRIFTLESS_REQUIRE(left.set == right.set, ErrorCode::InvalidArgument,
                    "native product: kernel sets; got '", left.set->name, "' and '",
                    right.set->name, "', expected the same");
  DRIFTLESS_REQUIRE(left.k == right.k, ErrorCode::InvalidArgument,
                    "native product: reduction lengths; got ", left.k, " and ", right.k,
                    ", expected the same");
  DRIFTLESS_REQUIRE(out.rows == left.rows && out.cols == right.columns, ErrorCode::InvalidArgument,
                    "native product: shape of the output; got ", out.rows, " x ", out.cols,
                    ", expected ", left.rows, " x ", right.columns);
  const int64_t most = largest_k(left.form, right.form);
  DRIFTLESS_REQUIRE(left.k <= most, ErrorCode::Unsupported,
                    "native product: reduction length; got ", left.k, ", expected at most ", most,
                    " for ", left.form.bits, " bits, window ", left.form.window, " times ",
                    right.form.bits, " bits, window ", right.form.window,
                    "; quantize with a smaller window");
}

/// Computes a tile, by way of a buffer where the panel has more columns than the output.
template <class T>
void run_tile(Tile tile, TileArgs args, int64_t rows, int64_t columns, int64_t panel_columns,
              quant::MatView<T> out, int64_t row, int64_t column) noexcept {
  T* const first = out.data + row * out.cols + column;
  if (columns == panel_columns) {
    args.out = first;
    args.out_stride = out.cols;
    tile(args, rows);
    return;
  }
  alignas(kCacheLine) T buffer[kMostTileRows * kMostColumns];
  args.out = buffer;
  args.out_stride = panel_columns;
  tile(args, rows);
  for (int64_t r = 0; r < rows; ++r) {
    std::memcpy(first + r * out.cols, buffer + r * panel_columns,
                static_cast<size_t>(columns) * sizeof(T));
  }
}

template <class T>
void multiply_into(const RowMatrix& left, const PanelMatrix& right, Tile Tiles::*kind,
                   quant::MatView<T> out, ThreadPool& pool) {
  require_suited(left, right, out);
  const Tiles& tiles = tiles_for(left, right);
  const RowTiles row_tiles(left.rows, tiles.max_rows);
  // Panels are the tasks; where they are few, each is cut along the rows.
  const int64_t wanted = pool.thread_count() == 1 ? 1 : pool.thread_count() * kTasksPerThread;
  const int64_t cuts =
      std::clamp((wanted + right.panels - 1) / right.panels, int64_t{1}, row_tiles.count);
  pool.parallel_for(right.panels * cuts, [&](int64_t index, int64_t) {
    const int64_t panel = index / cuts;
    const int64_t cut = index % cuts;
    const int64_t column = panel * right.set->columns;
    const int64_t columns = std::min(right.set->columns, right.columns - column);
    const int64_t last = row_tiles.count * (cut + 1) / cuts;
    for (int64_t i = row_tiles.count * cut / cuts; i < last; ++i) {
      const int64_t row = row_tiles.first(i);
      run_tile(tiles.*kind, tile_args(left, right, row, panel), row_tiles.first(i + 1) - row,
               columns, right.set->columns, out, row, column);
    }
  });
}

}  // namespace

int64_t largest_k(const IntegerForm& left, const IntegerForm& right) noexcept {
  const int64_t bits = left.magnitude_bits() + right.magnitude_bits();
  return bits > 30 ? 0 : INT32_MAX >> bits;
}

const Tiles& tiles_for(const RowMatrix& left, const PanelMatrix& right) noexcept {
  return sums_whole(left, right) ? right.set->whole : right.set->per_block;
}

TileArgs tile_args(const RowMatrix& left, const PanelMatrix& right, int64_t row,
                   int64_t panel) noexcept {
  const int64_t width = right.set->columns;
  const int64_t blocks = right.blocks * width;
  const int32_t* const starts = sums_whole(left, right)
                                    ? right.starts.data() + panel * width
                                    : right.block_starts.data() + panel * blocks;
  return {.rows = left.bytes.data() + row * left.stride,
          .row_shifts = left.shifts.data() + row * left.blocks,
          .row_scales = left.scales.data() + row,
          .panel = right.bytes.data() + panel * right.planes * right.steps * width * kStep,
          .starts = starts,
          .shifts = right.shifts.data() + panel * blocks * right.planes,
          .column_scales = right.scales.data() + panel * width,
          .row_stride = left.stride,
          .steps = right.steps,
          .blocks = right.blocks,
          .planes = right.planes,
          .out = nullptr,
          .out_stride = 0};
}

void multiply(const RowMatrix& left, const PanelMatrix& right, quant::Mat out, ThreadPool& pool) {
  multiply_into(left, right, &Tiles::products, out, pool);
}

void multiply_exact(const RowMatrix& left, const PanelMatrix& right, quant::MatView<int32_t> out,
                    ThreadPool& pool) {
  multiply_into(left, right, &Tiles::sums, out, pool);
}

}  // namespace driftless::native
