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

/// What shift_panel does, for one column, with blocks below the window: their mantissas are rounded
/// to the window's exponent, to nearest, ties to even.
void finish_column(const PanelToShift& args, const uint8_t* codes, int64_t width, int64_t k,
                   int64_t column) {
  int top = 0;
  for (int64_t block = 0; block < args.blocks; ++block)
    top = std::max(top, int{codes[block * width + column]});
  const int base = top - static_cast<int>(args.window);
  const int sign = 1 << (args.bits - 1);
  const int mask = 2 * sign - 1;
  int32_t sum = 0;
  for (int64_t row = 0; row < k; ++row) {
    int8_t& byte = args.steps[(row / kStep * width + column) * kStep + row % kStep];
    const int shift = codes[row / kBlock * width + column] - base;
    const int mantissa = ((byte & mask) ^ sign) - sign;
    const auto size = static_cast<uint32_t>(mantissa < 0 ? -mantissa : mantissa);
    const auto moved =
        static_cast<int>(shift < 0 ? formats::shift_right_to_even(size, -shift) : size << shift);
    byte = static_cast<int8_t>(mantissa < 0 ? -moved : moved);
    sum += byte;
  }
  args.starts[column] = -args.flip * sum;
  args.column_scales[column] =
      formats::power_of_two(base - formats::E8m0fnu::kBias - args.fraction_bits);
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
  return integer_form(weights.gate_up).fits_bytes() && integer_form(weights.down).fits_bytes();
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

/// Applies the window: from codes to bytes, starts and scales.
void ColumnSwiglu::finish(Panel& panel, const quant::QuantSpec& spec, Scratch& scratch) const {
  const PanelToShift args{
      .steps = panel.steps,
      .step_count = steps_of(panel.k),
      .scales = scratch.scales.data(),
      .blocks = blocks_of(panel.k),
      .window = spec.window,
      .bits = spec.format->element.bits,
      .fraction_bits = -formats::octave_of(spec.format->element.smallest).exponent,
      .flip = set_->row_flip,
      .starts = panel.starts,
      .column_scales = panel.scales};
  if (set_->encoders->shift_panel(args)) return;
  for (int64_t column = 0; column < set_->columns; ++column)
    finish_column(args, scratch.scales.data(), set_->columns, panel.k, column);
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
