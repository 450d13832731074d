// SPDX-License-Identifier: Apache-2.0
#include "driftless/integer/product.h"

#include <algorithm>
#include <cstring>

#include "driftless/base/error.h"

namespace driftless::integer {
namespace {

/// Tasks per thread, so that one that starts late leaves little to wait for.
constexpr int64_t kTasksPerThread = 4;

struct Range {
  int64_t first, last;
};

bool sums_whole(const RowMatrix& left, const PanelMatrix& right) noexcept {
  return are_shifted(left.form, *left.set) && right.form.fits_bytes();
}

int64_t bytes_of_panel(const PanelMatrix& right) noexcept {
  return right.planes * right.steps * right.set->columns * kStep;
}

template <class T>
void require_suited(const RowMatrix& left, int64_t rows, const PanelMatrix& right,
                    quant::MatView<T> out) {
  DRIFTLESS_REQUIRE(left.set == right.set, ErrorCode::InvalidArgument,
                    "native product: kernel sets; got '", left.set->name, "' and '",
                    right.set->name, "', expected the same");
  DRIFTLESS_REQUIRE(left.k == right.k, ErrorCode::InvalidArgument,
                    "native product: reduction lengths; got ", left.k, " and ", right.k,
                    ", expected the same");
  DRIFTLESS_REQUIRE(!right.is_paired || are_narrow(left.form, *left.set),
                    ErrorCode::InvalidArgument, "native product: panels of pairs and rows of ",
                    left.form.bits, " bits; expected at most ", left.set->narrow_bits);
  DRIFTLESS_REQUIRE(rows <= left.rows && out.rows == rows && out.cols == right.columns,
                    ErrorCode::InvalidArgument, "native product: shape of the output; got ",
                    out.rows, " x ", out.cols, ", expected ", rows, " x ", right.columns);
  const int64_t most = largest_k(left.form, right.form);
  DRIFTLESS_REQUIRE(left.k <= most, ErrorCode::Unsupported,
                    "native product: reduction length; got ", left.k, ", expected at most ", most,
                    " for ", left.form.bits, " bits, window ", left.form.window, " times ",
                    right.form.bits, " bits, window ", right.form.window,
                    "; quantize with a smaller window");
}

/// Computes one panel of the output, tile after tile. The arguments are built in place and only
/// change where they must: a copy would be loaded in pieces other than it was stored in, and so
/// wait for the stores of the tile before.
template <class T>
void run_panel(const RowMatrix& left, const PanelMatrix& right, const Tiles& tiles, Tile tile,
               int64_t panel, Range row_tile_range, quant::MatView<T> out) noexcept {
  const RowTiles row_tiles(out.rows, tiles.max_rows);
  const int64_t width = right.set->columns;
  const int64_t columns = std::min(width, right.columns - panel * width);
  const bool is_whole = columns == width;
  alignas(kCacheLine) T buffer[kMostTileRows * kMostColumns];
  int64_t row = row_tiles.first(row_tile_range.first);
  TileArgs args = tile_args(left, right, row, panel);
  args.out_stride = is_whole ? out.cols : width;
  for (int64_t i = row_tile_range.first; i < row_tile_range.last; ++i) {
    const int64_t rows = row_tiles.first(i + 1) - row;
    T* const first = out.data + row * out.cols + panel * width;
    args.out = is_whole ? first : buffer;
    tile(args, rows);
    for (int64_t r = 0; !is_whole && r < rows; ++r) {
      std::memcpy(first + r * out.cols, buffer + r * width,
                  static_cast<size_t>(columns) * sizeof(T));
    }
    row += rows;
    args.rows += rows * left.stride;
    args.row_shifts += rows * left.blocks;
    args.row_scales += rows;
  }
}

template <class T>
void multiply_into(const RowMatrix& left, const PanelMatrix& right, Tile Tiles::*kind,
                   quant::MatView<T> out, ThreadPool& pool) {
  require_suited(left, left.rows, right, out);
  const Tiles& tiles = tiles_for(left, right);
  const int64_t count = RowTiles(left.rows, tiles.max_rows).count;
  // Panels are the tasks; where they are few, each is cut along the rows.
  const int64_t wanted = pool.thread_count() == 1 ? 1 : pool.thread_count() * kTasksPerThread;
  const int64_t cuts = std::clamp((wanted + right.panels - 1) / right.panels, int64_t{1}, count);
  pool.parallel_for(right.panels * cuts, [&](int64_t index, int64_t) {
    const TileUse use(*right.set);
    const int64_t cut = index % cuts;
    run_panel(left, right, tiles, tiles.*kind, index / cuts,
              {count * cut / cuts, count * (cut + 1) / cuts}, out);
  });
}

/// On the calling thread.
template <class T>
void multiply_here(const RowMatrix& left, int64_t rows, const PanelMatrix& right, Tile Tiles::*kind,
                   quant::MatView<T> out) {
  require_suited(left, rows, right, out);
  const Tiles& tiles = tiles_for(left, right);
  const int64_t count = RowTiles(rows, tiles.max_rows).count;
  const TileUse use(*right.set);
  for (int64_t panel = 0; panel < right.panels; ++panel) {
    run_panel(left, right, tiles, tiles.*kind, panel, {0, count}, out);
  }
}

}  // namespace

int64_t largest_k(const IntegerForm& left, const IntegerForm& right) noexcept {
  const int64_t bits = left.magnitude_bits() + right.magnitude_bits();
  return bits > 30 ? 0 : INT32_MAX >> bits;
}

const Tiles& tiles_for(const RowMatrix& left, const PanelMatrix& right) noexcept {
  const KernelSet& set = *right.set;
  const bool suits_narrow = set.pair != nullptr ? right.is_paired : right.form.fits_bytes();
  if (are_narrow(left.form, set) && suits_narrow) return set.narrow;
  return sums_whole(left, right) ? set.whole : set.per_block;
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
          .panel = right.bytes.data() + panel * bytes_of_panel(right),
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

void multiply_rows(const RowMatrix& left, int64_t rows, const PanelMatrix& right, quant::Mat out) {
  multiply_here(left, rows, right, &Tiles::products, out);
}

void multiply(const RowMatrix& left, const PanelMatrix& right, quant::Mat out) {
  multiply_rows(left, left.rows, right, out);
}

void multiply_exact(const RowMatrix& left, const PanelMatrix& right, quant::MatView<int32_t> out,
                    ThreadPool& pool) {
  multiply_into(left, right, &Tiles::sums, out, pool);
}

void multiply_exact(const RowMatrix& left, const PanelMatrix& right, quant::MatView<int32_t> out) {
  multiply_here(left, left.rows, right, &Tiles::sums, out);
}

}  // namespace driftless::integer
