// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/feedback/descent.h"

#include <cmath>

#include "driftless/quant/runs.h"
#include "driftless/quant/scale/window.h"

namespace driftless::quant {
namespace {

/// The codes of one row, and what they stand for.
class Row {
 public:
  Row(QuantizedMatrix& matrix, int64_t row)
      : element_(matrix.spec.format->element),
        codes_(matrix.codes.data() + row * matrix.cols, static_cast<size_t>(matrix.cols)) {
    const QuantSpec& spec = matrix.spec;
    const bool is_grouped =
        spec.granularity == Granularity::Group || spec.granularity == Granularity::Block;
    const int64_t runs = is_grouped ? groups_per_row(spec, matrix.cols) : 1;
    const int64_t length = is_grouped ? spec.group : matrix.cols;
    const bool is_whole =
        spec.granularity == Granularity::Tensor || spec.granularity == Granularity::Unit;
    std::vector<Scale> scales;
    for (int64_t run = 0; run < runs; ++run)
      scales.push_back(run_scale(matrix, is_whole ? 0 : row * runs + run));
    for (int64_t i = 0; i < matrix.cols; ++i)
      scales_.push_back(scales[static_cast<size_t>(i / length)]);
    if (spec.has_scale_codes() && spec.window != kNoWindow) unit_ = row_unit(spec, scales);
  }

  [[nodiscard]] size_t size() const { return codes_.size(); }
  [[nodiscard]] double value(size_t at) const { return value_of(at, codes_[at]); }

  /// Takes the code nearest to a value where that is nearer than what is there. Returns by how much
  /// the value has changed.
  double move_towards(size_t at, double wanted) {
    const uint16_t code = encode(element_, scales_[at], static_cast<float>(wanted));
    const double before = value(at);
    const double after = value_of(at, code);
    if (!(std::abs(wanted - after) < std::abs(wanted - before))) return 0;
    codes_[at] = static_cast<uint8_t>(code);
    return after - before;
  }

 private:
  [[nodiscard]] double value_of(size_t at, uint16_t code) const {
    float value = decode(element_, scales_[at], code);
    if (unit_ > 0) round_to_unit(unit_, {&value, 1});
    return value;
  }

  const formats::Element& element_;
  std::span<uint8_t> codes_;
  std::vector<Scale> scales_;  // of each value
  float unit_ = 0;             // of which all values are multiples; 0 for none
};

}  // namespace

int64_t descend(const std::vector<double>& moments, std::span<const double> exact,
                QuantizedMatrix& out, int64_t row) {
  Row rounded(out, row);
  const size_t length = rounded.size();
  std::vector<double> slopes(length);  // e A
  const auto add = [&](size_t at, double error) {
    const double* const a = moments.data() + at * length;
    for (size_t i = 0; i < length; ++i) slopes[i] += error * a[i];
  };
  for (size_t at = 0; at < length; ++at) add(at, exact[at] - rounded.value(at));
  int64_t changed = 0;
  for (int64_t sweep = 0; sweep < kMostSweeps; ++sweep) {
    const int64_t before = changed;
    for (size_t at = 0; at < length; ++at) {
      const double least = rounded.value(at) + slopes[at] / moments[at * length + at];
      const double moved = rounded.move_towards(at, least);
      if (moved == 0) continue;
      add(at, -moved);
      ++changed;
    }
    if (changed == before) break;
  }
  return changed;
}

}  // namespace driftless::quant
