// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/calibrate/error_stats.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "driftless/quant/quantizer.h"
#include "driftless/quant/runs.h"

namespace driftless::quant {
namespace {

/// A float scale is itself rounded: a value may exceed the largest element by that rounding alone.
constexpr double kScaleRounding = 1 + 0x1p-23;

int64_t count_clipped_runs(const QuantizedMatrix& quantized, ConstMat values) {
  const formats::Format& format = *quantized.spec.format;
  const double slack = format.scaling == formats::Scaling::PowerOfTwo ? 1 : kScaleRounding;
  int64_t clipped = 0;
  for_each_run(
      quantized.spec, values.rows, values.cols, [&](int64_t index, int64_t first, int64_t length) {
        const auto [scale, zero] = run_scale(quantized, index);
        const double high = (format.element.max - zero) * slack * scale;
        const double low = (format.element.min - zero) * slack * scale;
        const auto run =
            values.all().subspan(static_cast<size_t>(first), static_cast<size_t>(length));
        clipped +=
            std::any_of(run.begin(), run.end(), [&](double x) { return x > high || x < low; });
      });
  return clipped;
}

}  // namespace

ErrorStats measure_error(const QuantSpec& spec, ConstMat values) {
  const Quantizer quantizer(spec);
  std::vector<float> out(static_cast<size_t>(values.size()));
  quantizer.fake_quantize(values, {out.data(), values.rows, values.cols});
  ErrorStats stats{.values = values.size()};
  double signal = 0;
  double noise = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const double x = values.data[i];
    const double error = x - static_cast<double>(out[i]);
    signal += x * x;
    noise += error * error;
    stats.worst_error = std::max(stats.worst_error, std::abs(error));
  }
  stats.sqnr_db = 10 * std::log10(signal / noise);
  const bool has_scales = !spec.is_none() && spec.granularity != Granularity::Unit;
  if (has_scales && values.size() > 0) {
    stats.runs = run_count(spec, values.rows, values.cols);
    stats.clipped_runs = count_clipped_runs(quantizer.quantize(values), values);
  }
  return stats;
}

}  // namespace driftless::quant
