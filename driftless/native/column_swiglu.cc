// SPDX-License-Identifier: Apache-2.0
#include "driftless/native/column_swiglu.h"

#include <algorithm>

#include "driftless/base/error.h"

namespace driftless::native {
namespace {

bool has_alike_factors(const quant::QuantizedMatrix& weight, const quant::QuantSpec& acts,
                       const KernelSet& set) {
  return ColumnQuantizer::suits(acts, set) &&
         integer_form(weight).fits_bytes() == ColumnQuantizer(acts, set).form().fits_bytes();
}

}  // namespace

bool ColumnSwiglu::suits(const SwigluWeights& weights, const SwigluActs& acts,
                         const KernelSet& set) {
  return !acts.input_is_change && !acts.hidden_is_change &&
         has_alike_factors(weights.gate_up, acts.input, set) &&
         has_alike_factors(weights.down, acts.hidden, set);
}

ColumnSwiglu::ColumnSwiglu(const SwigluWeights& weights, const SwigluActs& acts,
                           const KernelSet& set, const loop::EpilogueSet& epilogues)
    : set_(&set),
      tile_rows_(std::max(kBlock, set.whole.max_rows / kBlock * kBlock)),
      input_(acts.input, set),
      hidden_(acts.hidden, set),
      gate_up_(make_rows(weights.gate_up, set)),
      down_(make_rows(weights.down, set)),
      inner_(weights.down.cols),
      epilogues_(&epilogues) {
  DRIFTLESS_REQUIRE(gate_up_.rows == 2 * inner_ && down_.rows == gate_up_.k && inner_ % kBlock == 0,
                    ErrorCode::InvalidArgument, "native swiglu: weights; got ", gate_up_.rows,
                    " x ", gate_up_.k, " and ", down_.rows, " x ", down_.k,
                    ", expected 2 inner x K and K x inner with inner a multiple of ", kBlock);
  const auto require_length = [](int64_t k, int64_t most) {
    DRIFTLESS_REQUIRE(k <= most, ErrorCode::Unsupported, "native swiglu: reduction length; got ", k,
                      ", expected at most ", most, "; quantize with a smaller window");
  };
  require_length(gate_up_.k, largest_k(gate_up_.form, input_.form()));
  require_length(inner_, largest_k(down_.form, hidden_.form()));
}

ColumnSwiglu::Scratch ColumnSwiglu::make_scratch() const {
  const int64_t width = set_->columns;
  Scratch scratch{input_.make(gate_up_.k), hidden_.make(inner_), {}, {}};
  scratch.tiles.resize(static_cast<size_t>(2 * tile_rows_ * width));
  scratch.products.resize(static_cast<size_t>((hidden_.has_blocks() ? kBlock : inner_) * width));
  return scratch;
}

void ColumnSwiglu::multiply(const RowMatrix& weights, int64_t first, int64_t rows,
                            const ColumnPanel& panel, float* out) const noexcept {
  const int64_t width = set_->columns;
  const Tiles& kernels = weights.form.fits_bytes() ? set_->whole : set_->per_block;
  const RowTiles tiles(rows, kernels.max_rows);
  TileArgs args{.rows = weights.bytes.data() + first * weights.stride,
                .row_shifts = weights.shifts.data() + first * weights.blocks,
                .row_scales = weights.scales.data() + first,
                .panel = panel.steps.data(),
                .starts = panel.starts.data(),
                .shifts = panel.shifts.data(),
                .column_scales = panel.scales.data(),
                .row_stride = weights.stride,
                .steps = panel_steps(panel.k, *set_),
                .blocks = weights.blocks,
                .planes = 1,
                .out = out,
                .out_stride = width};
  for (int64_t i = 0; i < tiles.count; ++i) {
    const int64_t count = tiles.first(i + 1) - tiles.first(i);
    kernels.products(args, count);
    args.rows += count * weights.stride;
    args.row_shifts += count * weights.blocks;
    args.row_scales += count;
    args.out = static_cast<float*>(args.out) + count * width;
  }
}

/// The 32 rows of hidden activations from `row` on, whose gates and ups are row `at` of the tiles
/// and after. Returns false when a value is not finite.
bool ColumnSwiglu::activate(Scratch& scratch, int64_t at, int64_t row) const noexcept {
  const int64_t width = set_->columns;
  const float* const gate = scratch.tiles.data() + at * width;
  float* const product = scratch.products.data() + (hidden_.has_blocks() ? 0 : row * width);
  epilogues_->silu_mul(gate, gate + tile_rows_ * width, product, kBlock * width);
  return !hidden_.has_blocks() ||
         hidden_.encode_block(product, width, row / kBlock, scratch.hidden);
}

/// Returns false when a value is not finite.
bool ColumnSwiglu::fill_hidden(Scratch& scratch) const noexcept {
  const int64_t width = set_->columns;
  float* const gate = scratch.tiles.data();
  bool is_finite = true;
  for (int64_t row = 0; row < inner_; row += tile_rows_) {
    const int64_t rows = std::min(tile_rows_, inner_ - row);
    multiply(gate_up_, row, rows, scratch.input, gate);
    multiply(gate_up_, inner_ + row, rows, scratch.input, gate + tile_rows_ * width);
    for (int64_t at = 0; at < rows; at += kBlock) is_finite &= activate(scratch, at, row + at);
  }
  if (!hidden_.has_blocks())
    return hidden_.quantize(scratch.products.data(), width, scratch.hidden);
  if (is_finite) hidden_.finish(scratch.hidden);
  return is_finite;
}

void ColumnSwiglu::run(const float* h, int64_t stride, Scratch& scratch, float* out) const {
  const TileUse use(*set_);
  DRIFTLESS_REQUIRE(input_.quantize(h, stride, scratch.input), ErrorCode::Numeric,
                    "native swiglu: input; got a NaN or an infinity, expected finite numbers");
  DRIFTLESS_REQUIRE(fill_hidden(scratch), ErrorCode::Numeric, "native swiglu: hidden activations",
                    "; got a NaN or an infinity, expected finite numbers");
  multiply(down_, 0, down_.rows, scratch.hidden, out);
}

}  // namespace driftless::native
