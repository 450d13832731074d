// SPDX-License-Identifier: Apache-2.0
#include "driftless/integer/column_quantizer.h"

#include <algorithm>

#include "driftless/formats/e8m0fnu.h"
#include "driftless/formats/float_bits.h"
#include "driftless/integer/scaled_blocks.h"
#include "driftless/quant/scale/window.h"

namespace driftless::integer {
namespace {

using quant::Granularity;

int64_t blocks_of(int64_t k) { return (k + kBlock - 1) / kBlock; }
int64_t steps_of(int64_t k) { return (k + kStep - 1) / kStep; }

bool is_plain_token(const quant::QuantSpec& spec) {
  return spec.granularity == Granularity::Token && spec.calibration == quant::Calibration{};
}

IntegerForm form_of(const quant::QuantSpec& spec) {
  if (spec.has_scale_codes()) return {.window = quant::integer_window(spec)};
  return {spec.format->element.bits, spec.is_in_blocks() ? spec.window : 0};
}

/// What shift_panel does, for one column, whatever its scale.
void finish_column(const PanelToShift& args, int64_t width, int64_t column) noexcept {
  int top = 0;
  for (int64_t block = 0; block < args.blocks; ++block)
    top = std::max(top, int{args.scales[block * width + column]});
  const int base = top - static_cast<int>(args.window);
  const int sign = 1 << (args.bits - 1);
  args.starts[column] = 0;
  for (int64_t block = 0; block < args.blocks; ++block) {
    const int above = args.scales[block * width + column] - base;
    const int left = args.shifts != nullptr ? 0 : std::max(above, 0);
    const int right = std::max(-above, 0);
    int32_t sum = 0;
    const int64_t last = std::min((block + 1) * kBlockSteps, args.step_count) * kStep;
    for (int64_t row = block * kBlock; row < last; ++row) {
      int8_t& byte = args.steps[(row / kStep * width + column) * kStep + row % kStep];
      const int mantissa = ((byte & (2 * sign - 1)) ^ sign) - sign;
      const auto size = static_cast<uint32_t>(mantissa < 0 ? -mantissa : mantissa);
      const auto moved = static_cast<int>(formats::shift_right_to_even(size, right) << left);
      byte = static_cast<int8_t>(mantissa < 0 ? -moved : moved);
      sum += byte;
    }
    if (args.shifts == nullptr) {
      args.starts[column] -= args.flip * sum;
    } else {
      args.starts[block * width + column] = -args.flip * sum;
      args.shifts[block * width + column] = std::max(above, 0);
    }
  }
  args.column_scales[column] =
      formats::power_of_two(base - formats::E8m0fnu::kBias - args.fraction_bits);
}

}  // namespace

bool ColumnQuantizer::suits(const quant::QuantSpec& spec, const KernelSet& set) {
  if (set.encoders == nullptr || spec.is_none()) return false;
  if (spec.has_scale_codes())
    return quant::has_integer_rows(spec) && knows_scaled_blocks(spec, set);
  if (spec.granularity != Granularity::Block) return is_plain_token(spec);
  return spec.group == kBlock && spec.window != quant::kNoWindow &&
         set.encoders->knows(formats::block_scaling(spec.format->element, spec.rule));
}

ColumnQuantizer::ColumnQuantizer(const quant::QuantSpec& spec, const KernelSet& set)
    : element_(spec.format->element),
      scales_{spec.format->element, spec.scale_rule()},
      set_(&set),
      scaling_(formats::block_scaling(spec.format->element, spec.rule)),
      form_(form_of(spec)),
      has_blocks_(spec.is_in_blocks()),
      has_fractions_(spec.has_scale_codes()),
      window_(spec.window) {}

ColumnPanel ColumnQuantizer::make(int64_t k) const {
  const int64_t width = set_->columns;
  const auto per_block = static_cast<size_t>(blocks_of(k) * width);
  ColumnPanel panel{.k = k};
  panel.steps.resize(static_cast<size_t>(panel_steps(k, *set_) * kStep * width));
  panel.scales.resize(static_cast<size_t>(width));
  panel.starts.resize(form_.fits_bytes() ? static_cast<size_t>(width) : per_block);
  if (!form_.fits_bytes()) panel.shifts.resize(per_block);
  if (has_blocks_) panel.codes.resize(per_block);
  return panel;
}

bool ColumnQuantizer::quantize(const float* x, int64_t stride, ColumnPanel& out) const noexcept {
  if (!has_blocks_)
    return set_->encoders->scale_columns(element_, {.x = x,
                                                    .x_stride = stride,
                                                    .k = out.k,
                                                    .steps = out.steps.data(),
                                                    .flip = set_->row_flip,
                                                    .starts = out.starts.data(),
                                                    .column_scales = out.scales.data()});
  bool is_finite = true;
  for (int64_t block = 0; block < blocks_of(out.k); ++block)
    is_finite &= encode_block(x + block * kBlock * stride, stride, block, out);
  if (is_finite) finish(out);
  return is_finite;
}

bool ColumnQuantizer::encode_block(const float* x, int64_t stride, int64_t block,
                                   ColumnPanel& out) const noexcept {
  const int64_t width = set_->columns;
  const ColumnsToEncode args{.x = x,
                             .x_stride = stride,
                             .rows = std::min(kBlock, out.k - block * kBlock),
                             .steps = out.steps.data() + block * kBlock * width,
                             .scales = out.codes.data() + block * width};
  return has_fractions_ ? set_->encoders->encode_scaled_columns(scales_, args)
                        : set_->encoders->encode_columns(scaling_, args);
}

void ColumnQuantizer::finish(ColumnPanel& out) const noexcept {
  int32_t* const shifts = form_.fits_bytes() ? nullptr : out.shifts.data();
  if (has_fractions_)
    return set_->encoders->multiply_panel(scales_, {.steps = out.steps.data(),
                                                    .step_count = steps_of(out.k),
                                                    .scales = out.codes.data(),
                                                    .blocks = blocks_of(out.k),
                                                    .window = window_,
                                                    .flip = set_->row_flip,
                                                    .starts = out.starts.data(),
                                                    .column_scales = out.scales.data(),
                                                    .shifts = shifts});
  const PanelToShift args{.steps = out.steps.data(),
                          .step_count = steps_of(out.k),
                          .scales = out.codes.data(),
                          .blocks = blocks_of(out.k),
                          .window = form_.window,
                          .bits = element_.bits,
                          .fraction_bits = -formats::octave_of(element_.smallest).exponent,
                          .flip = set_->row_flip,
                          .starts = out.starts.data(),
                          .column_scales = out.scales.data(),
                          .shifts = shifts};
  if (set_->encoders->shift_panel(args)) return;
  for (int64_t column = 0; column < set_->columns; ++column)
    finish_column(args, set_->columns, column);
}

}  // namespace driftless::integer
