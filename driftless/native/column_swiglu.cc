// SPDX-License-Identifier: Apache-2.0
#include "driftless/native/column_swiglu.h"

#include <algorithm>

#include "driftless/base/error.h"
#include "driftless/formats/e8m0fnu.h"
#include "driftless/formats/float_bits.h"

namespace driftless::native {
namespace {

int64_t blocks_of(int64_t k) { return (k + kBlock - 1) / kBlock; }
int64_t steps_of(int64_t k) { return (k + kStep - 1) / kStep; }

IntegerForm form_of(const quant::QuantSpec& spec) {
  return {spec.format->element.bits, spec.window};
}

bool is_encoded_by(const KernelSet& set, const quant::QuantSpec& spec) {
  if (set.encoders == nullptr || spec.granularity != quant::Granularity::Block) return false;
  const bool has_window = spec.window != quant::kNoWindow;
  return spec.group == kBlock && has_window && form_of(spec).fits_bytes() &&
         set.encoders->knows(formats::block_scaling(spec.format->element, spec.rule));
}

/// Mantissas of a column's block, codes in the steps from `steps` on, moved `below` octaves up:
/// rounded to nearest, ties to even.
void round_column(int8_t* steps, int64_t width, int64_t rows, int bits, int below) {
  const int mask = (1 << bits) - 1;
  const int sign = 1 << (bits - 1);
  for (int64_t row = 0; row < rows; ++row) {
    int8_t& code = steps[row / kStep * width * kStep + row % kStep];
    const int mantissa = ((code & mask) ^ sign) - sign;
    const auto size = static_cast<uint32_t>(mantissa < 0 ? -mantissa : mantissa);
    const auto rounded = static_cast<int>(formats::shift_right_to_even(size, below));
    code = static_cast<int8_t>((mantissa < 0 ? -rounded : rounded) & mask);
  }
}

}  // namespace

/// A panel of activations: its steps lie in the scratch.
struct ColumnSwiglu::Panel {
  int8_t* steps;
  int64_t k;
  alignas(kCacheLine) int32_t starts[kMostColumns];
  alignas(kCacheLine) float scales[kMostColumns];

  Panel(AlignedVector<int8_t>& bytes, int64_t length) : steps(bytes.data()), k(length) {}
};

bool ColumnSwiglu::suits(const SwigluWeights& weights, const SwigluActs& acts,
                         const KernelSet& set) {
  if (!is_encoded_by(set, acts.input) || !is_encoded_by(set, acts.hidden)) return false;
  return make_rows(weights.gate_up, set).form.fits_bytes() &&
         make_rows(weights.down, set).form.fits_bytes();
}

ColumnSwiglu::ColumnSwiglu(const SwigluWeights& weights, const SwigluActs& acts,
                           const KernelSet& set, SiluMul silu_mul)
    : acts_(acts),
      set_(&set),
      input_scaling_(formats::block_scaling(acts.input.format->element, acts.input.rule)),
      hidden_scaling_(formats::block_scaling(acts.hidden.format->element, acts.hidden.rule)),
      gate_up_(make_rows(weights.gate_up, set)),
      down_(make_rows(weights.down, set)),
      inner_(weights.down.cols),
      silu_mul_(silu_mul) {
  DRIFTLESS_REQUIRE(gate_up_.rows == 2 * inner_ && down_.rows == gate_up_.k && inner_ % kBlock == 0,
                    ErrorCode::InvalidArgument, "native swiglu: weights; got ", gate_up_.rows,
                    " x ", gate_up_.k, " and ", down_.rows, " x ", down_.k,
                    ", expected 2 inner x K and K x inner with inner a multiple of ", kBlock);
  const int64_t most = std::min(largest_k(gate_up_.form, form_of(acts.input)),
                                largest_k(down_.form, form_of(acts.hidden)));
  DRIFTLESS_REQUIRE(std::max(gate_up_.k, inner_) <= most, ErrorCode::Unsupported,
                    "native swiglu: reduction length; got ", std::max(gate_up_.k, inner_),
                    ", expected at most ", most);
}

ColumnSwiglu::Scratch ColumnSwiglu::make_scratch() const {
  const int64_t width = set_->columns;
  const auto bytes = [&](int64_t k) { return static_cast<size_t>(steps_of(k) * kStep * width); };
  Scratch scratch;
  scratch.input.resize(bytes(gate_up_.k));
  scratch.hidden.resize(bytes(inner_));
  scratch.scales.resize(static_cast<size_t>(blocks_of(std::max(gate_up_.k, inner_)) * width));
  scratch.tiles.resize(static_cast<size_t>(3 * kBlock * width));
  return scratch;
}

/// Applies the window, column by column: from codes to bytes, starts and scales.
void ColumnSwiglu::finish(Panel& panel, const quant::QuantSpec& spec, Scratch& scratch) const {
  const int64_t width = set_->columns;
  const int64_t blocks = blocks_of(panel.k);
  const int bits = spec.format->element.bits;
  const auto window = static_cast<int>(spec.window);
  uint8_t* const codes = scratch.scales.data();
  uint8_t tops[kMostColumns] = {};
  uint8_t least[kMostColumns];
  std::fill_n(least, width, uint8_t{255});
  for (int64_t block = 0; block < blocks; ++block) {
    const uint8_t* const row = codes + block * width;
    for (int64_t c = 0; c < width; ++c) tops[c] = std::max(tops[c], row[c]);
    for (int64_t c = 0; c < width; ++c) least[c] = std::min(least[c], row[c]);
  }
  const int fraction_bits = -formats::octave_of(spec.format->element.smallest).exponent;
  for (int64_t c = 0; c < width; ++c) {
    const int base = tops[c] - window;
    panel.scales[c] = formats::power_of_two(base - formats::E8m0fnu::kBias - fraction_bits);
    if (least[c] >= base) continue;
    for (int64_t block = 0; block < blocks; ++block) {
      uint8_t& code = codes[block * width + c];
      if (code >= base) continue;
      const int64_t rows = std::min(kBlock, panel.k - block * kBlock);
      round_column(panel.steps + (block * kBlockSteps * width + c) * kStep, width, rows, bits,
                   base - code);
      code = static_cast<uint8_t>(base);
    }
  }
  set_->encoders->shift_panel({.steps = panel.steps,
                               .step_count = steps_of(panel.k),
                               .scales = codes,
                               .tops = tops,
                               .blocks = blocks,
                               .window = spec.window,
                               .bits = bits,
                               .flip = set_->row_flip,
                               .starts = panel.starts});
}

void ColumnSwiglu::fill_input(const float* h, int64_t stride, Scratch& scratch,
                              Panel& panel) const {
  const int64_t width = set_->columns;
  bool is_finite = true;
  for (int64_t block = 0; block < blocks_of(panel.k); ++block) {
    const int64_t row = block * kBlock;
    is_finite &= set_->encoders->encode_columns(input_scaling_,
                                                {.x = h + row * stride,
                                                 .x_stride = stride,
                                                 .rows = std::min(kBlock, panel.k - row),
                                                 .steps = panel.steps + row * width,
                                                 .scales = scratch.scales.data() + block * width});
  }
  DRIFTLESS_REQUIRE(is_finite, ErrorCode::Numeric,
                    "native swiglu: input; got a NaN or an infinity, expected finite numbers");
  finish(panel, acts_.input, scratch);
}

void ColumnSwiglu::multiply(const RowMatrix& weights, int64_t first, int64_t rows,
                            const Panel& panel, float* out) const {
  const int64_t width = set_->columns;
  const RowTiles tiles(rows, set_->whole.max_rows);
  TileArgs args{.rows = weights.bytes.data() + first * weights.stride,
                .row_shifts = weights.shifts.data() + first * weights.blocks,
                .row_scales = weights.scales.data() + first,
                .panel = panel.steps,
                .starts = panel.starts,
                .shifts = nullptr,
                .column_scales = panel.scales,
                .row_stride = weights.stride,
                .steps = steps_of(panel.k),
                .blocks = blocks_of(panel.k),
                .planes = 1,
                .out = out,
                .out_stride = width};
  for (int64_t i = 0; i < tiles.count; ++i) {
    const int64_t count = tiles.first(i + 1) - tiles.first(i);
    set_->whole.products(args, count);
    args.rows += count * weights.stride;
    args.row_scales += count;
    args.out = static_cast<float*>(args.out) + count * width;
  }
}

void ColumnSwiglu::fill_hidden(const Panel& input, Scratch& scratch, Panel& hidden) const {
  const int64_t width = set_->columns;
  float* const gate = scratch.tiles.data();
  float* const up = gate + kBlock * width;
  float* const product = up + kBlock * width;
  bool is_finite = true;
  for (int64_t row = 0; row < inner_; row += kBlock) {
    multiply(gate_up_, row, kBlock, input, gate);
    multiply(gate_up_, inner_ + row, kBlock, input, up);
    silu_mul_(gate, up, product, kBlock * width);
    is_finite &= set_->encoders->encode_columns(
        hidden_scaling_, {.x = product,
                          .x_stride = width,
                          .rows = kBlock,
                          .steps = hidden.steps + row * width,
                          .scales = scratch.scales.data() + row / kBlock * width});
  }
  DRIFTLESS_REQUIRE(is_finite, ErrorCode::Numeric, "native swiglu: hidden activations",
                    "; got a NaN or an infinity, expected finite numbers");
  finish(hidden, acts_.hidden, scratch);
}

void ColumnSwiglu::run(const float* h, int64_t stride, Scratch& scratch, float* out) const {
  Panel input(scratch.input, gate_up_.k);
  Panel hidden(scratch.hidden, inner_);
  fill_input(h, stride, scratch, input);
  fill_hidden(input, scratch, hidden);
  multiply(down_, 0, down_.rows, hidden, out);
}

}  // namespace driftless::native
