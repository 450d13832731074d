// SPDX-License-Identifier: Apache-2.0
#include "driftless/native/swiglu.h"

#include <algorithm>

#include "driftless/base/error.h"

namespace driftless::native {
namespace {

constexpr int64_t kTileSize = kMostTileRows * kBlock;

/// Rows [row, row + rows) of `left` times columns [column, column + 32) of `right`, dense.
void block_tile(const RowMatrix& left, const PanelMatrix& right, int64_t row, int64_t rows,
                int64_t column, float* out) noexcept {
  const Tile products = tiles_for(left, right).products;
  const int64_t width = right.set->columns;
  for (int64_t at = 0; at < kBlock; at += width) {
    TileArgs args = tile_args(left, right, row, (column + at) / width);
    args.out = out + at;
    args.out_stride = kBlock;
    products(args, rows);
  }
}

void require_length(int64_t k, const IntegerForm& left, const IntegerForm& right) {
  const int64_t most = largest_k(left, right);
  DRIFTLESS_REQUIRE(k <= most, ErrorCode::Unsupported, "native swiglu: reduction length; got ", k,
                    ", expected at most ", most, "; quantize with a smaller window");
}

}  // namespace

Swiglu::Swiglu(const SwigluWeights& weights, const SwigluActs& acts, const KernelSet& set,
               const loop::EpilogueSet& epilogues)
    : input_(acts.input, set),
      hidden_(acts.hidden, set),
      gate_up_(make_panels(weights.gate_up, set, input_.form())),
      down_(make_panels(weights.down, set, hidden_.form())),
      inner_(weights.down.cols),
      has_block_hidden_(acts.hidden.is_in_blocks()),
      input_is_change_(acts.input_is_change),
      hidden_is_change_(acts.hidden_is_change),
      epilogues_(&epilogues) {
  DRIFTLESS_REQUIRE(
      gate_up_.columns == 2 * inner_ && down_.columns == gate_up_.k && inner_ % kBlock == 0,
      ErrorCode::InvalidArgument, "native swiglu: weights; got ", gate_up_.columns, " x ",
      gate_up_.k, " and ", down_.columns, " x ", down_.k,
      ", expected 2 inner x D and D x inner with inner a multiple of ", kBlock);
  const Scratch scratch = make_scratch(1);
  require_length(gate_up_.k, scratch.input.form, gate_up_.form);
  require_length(down_.k, scratch.hidden.form, down_.form);
}

Swiglu::Scratch Swiglu::make_scratch(int64_t rows) const {
  Scratch scratch{input_.make(rows, gate_up_.k), hidden_.make(rows, inner_), {}, {}};
  if (!has_block_hidden_) scratch.floats.resize(static_cast<size_t>(rows * inner_));
  if (input_is_change_) scratch.change.resize(static_cast<size_t>(rows * gate_up_.k));
  return scratch;
}

void Swiglu::quantize_input(quant::ConstMat h, Scratch& scratch, const SwigluSums& sums) const {
  if (!input_is_change_) return input_.quantize_rows(h, scratch.input);
  epilogues_->subtract(h.data, sums.input, scratch.change.data(), h.size());
  input_.quantize_rows({scratch.change.data(), h.rows, h.cols}, scratch.input);
  add_values(scratch.input, h.rows, {sums.input, h.cols, kBlock}, *epilogues_);
}

void Swiglu::run_gates(Gates gates, Scratch& scratch, int64_t rows, const SwigluSums& sums) const {
  const TileUse use(*gate_up_.set);
  for (int64_t block = 0; block < inner_ / kBlock; ++block)
    run_block(gates, scratch, rows, block, sums);
}

void Swiglu::run_block(Gates gates, Scratch& scratch, int64_t all_rows, int64_t block,
                       const SwigluSums& sums) const {
  const RowTiles row_tiles(all_rows, tiles_for(scratch.input, gate_up_).max_rows);
  alignas(kCacheLine) float gate[kTileSize];
  alignas(kCacheLine) float up[kTileSize];
  alignas(kCacheLine) float tile[kTileSize];
  for (int64_t i = 0; i < row_tiles.count; ++i) {
    const int64_t row = row_tiles.first(i);
    const int64_t rows = row_tiles.first(i + 1) - row;
    const int64_t size = rows * kBlock;
    const int64_t place = (block * sums.all_rows + row) * kBlock;
    if (gates != Gates::Activate) {
      block_tile(scratch.input, gate_up_, row, rows, block * kBlock, gate);
      block_tile(scratch.input, gate_up_, row, rows, inner_ + block * kBlock, up);
    }
    if (input_is_change_) {
      float* const gate_sums = sums.gate_up + place;
      float* const up_sums = gate_sums + inner_ * sums.all_rows;
      if (gates == Gates::Activate) {
        std::copy_n(gate_sums, size, gate);
        std::copy_n(up_sums, size, up);
      } else {
        epilogues_->add_up(gate_sums, gate, size);
        epilogues_->add_up(up_sums, up, size);
      }
    }
    if (gates == Gates::Multiply) continue;
    float* const product =
        has_block_hidden_ ? tile : scratch.floats.data() + (block * all_rows + row) * kBlock;
    epilogues_->silu_mul(gate, up, product, size);
    if (hidden_is_change_) epilogues_->subtract(product, sums.hidden + place, product, size);
    if (!has_block_hidden_) continue;
    DRIFTLESS_REQUIRE(hidden_.encode_tile(product, scratch.hidden, row, rows, block),
                      ErrorCode::Numeric, "native swiglu: hidden activations of rows ", row, " to ",
                      row + rows - 1, ", block ", block,
                      "; got a NaN or an infinity, expected finite numbers");
  }
}

/// The second product, of hidden activations that are all there.
void Swiglu::run_down(Scratch& scratch, quant::Mat out, const SwigluSums& sums) const {
  if (has_block_hidden_) {
    for (int64_t row = 0; row < out.rows; ++row) hidden_.finish_row(scratch.hidden, row);
  } else {
    hidden_.quantize_tiles(scratch.floats.data(), out.rows, scratch.hidden);
  }
  multiply_rows(scratch.hidden, out.rows, down_, out);
  if (!hidden_is_change_) return;
  add_values(scratch.hidden, out.rows, {sums.hidden, kBlock, sums.all_rows * kBlock}, *epilogues_);
  epilogues_->add_up(sums.output, out.data, out.size());
}

void Swiglu::run(quant::ConstMat h, Scratch& scratch, quant::Mat out,
                 const SwigluSums& sums) const {
  const bool suits = h.rows <= scratch.input.rows && h.cols == gate_up_.k && out.rows == h.rows &&
                     out.cols == down_.columns;
  DRIFTLESS_REQUIRE(suits, ErrorCode::InvalidArgument, "native swiglu: shapes; got ", h.rows, " x ",
                    h.cols, " and ", out.rows, " x ", out.cols, ", expected at most ",
                    scratch.input.rows, " x ", gate_up_.k, " and as many rows of ", down_.columns);
  for (int64_t pass = 1; input_is_change_ && pass < sums.passes; ++pass) {
    quantize_input(h, scratch, sums);
    run_gates(Gates::Multiply, scratch, h.rows, sums);
  }
  quantize_input(h, scratch, sums);
  run_gates(Gates::Both, scratch, h.rows, sums);
  run_down(scratch, out, sums);
  for (int64_t pass = 1; hidden_is_change_ && pass < sums.passes; ++pass) {
    run_gates(input_is_change_ ? Gates::Activate : Gates::Both, scratch, h.rows, sums);
    run_down(scratch, out, sums);
  }
}

}  // namespace driftless::native
