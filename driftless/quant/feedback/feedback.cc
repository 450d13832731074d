// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/feedback/feedback.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "driftless/base/error.h"
#include "driftless/base/thread_pool.h"
#include "driftless/formats/e8m0fnu.h"
#include "driftless/quant/feedback/descent.h"
#include "driftless/quant/feedback/factors.h"
#include "driftless/quant/runs.h"
#include "driftless/quant/scale/window.h"

namespace driftless::quant {
namespace {

using formats::E8m0fnu;
using formats::Scaling;

struct Damped {
  Factors factors;
  double share;
  double added;
};

Damped damped_factors(const std::vector<double>& squares, int64_t length) {
  double trace = 0;
  for (int64_t i = 0; i < length; ++i) trace += squares[static_cast<size_t>(i * length + i)];
  DRIFTLESS_REQUIRE(std::isfinite(trace), ErrorCode::Numeric,
                    "error feedback: second moments are not finite; got a sum of squares of ",
                    trace);
  const double mean = trace > 0 ? trace / static_cast<double>(length) : 1;
  for (double share = kFeedbackDamping;; share *= 10) {
    std::vector<double> matrix = squares;
    for (int64_t i = 0; i < length; ++i)
      matrix[static_cast<size_t>(i * length + i)] += share * mean;
    if (auto factors = factorize(std::move(matrix), length))
      return {std::move(*factors), share, share * mean};
    DRIFTLESS_REQUIRE(share < 1e6, ErrorCode::Numeric,
                      "error feedback: second moments cannot be factored, even damped");
  }
}

/// Rounds the rows of one matrix.
class RowRounder {
 public:
  RowRounder(const Quantizer& quantizer, const Factors& factors, ConstMat weight,
             QuantizedMatrix& out)
      : quantizer_(quantizer), spec_(quantizer.spec()), factors_(factors), out_(out) {
    const bool is_grouped =
        spec_.granularity == Granularity::Group || spec_.granularity == Granularity::Block;
    if (is_grouped) {
      group_ = spec_.group;
    } else {
      group_ = weight.cols;
      whole_ = out.scales.floats = quantizer.scales_of(weight);
    }
    if (spec_.format->scaling != Scaling::TwoLevel) return;
    const uint32_t most = kernels().absmax_bits(weight.data, weight.size());
    out.scales.tensor_scale =
        formats::two_level_tensor_scale(element(), std::bit_cast<float>(most));
  }

  /// `exact` are the weights that the row should have, in float64.
  void round(int64_t row, std::span<const double> exact) {
    const int64_t cols = out_.cols;
    const std::span codes(out_.codes.data() + row * cols, static_cast<size_t>(cols));
    std::vector<double> wanted(exact.begin(), exact.end());
    std::vector<float> run(static_cast<size_t>(group_));
    const std::vector<Scale> scales = first_scales(exact);
    const uint8_t floor = lowest_scale(scales);
    const float unit = is_on_units() ? row_unit(spec_, scales) : 0.0f;
    for (int64_t first = 0, index = row * groups(); first < cols; first += group_, ++index) {
      const auto length = static_cast<size_t>(std::min(group_, cols - first));
      for (size_t i = 0; i < length; ++i)
        run[i] = static_cast<float>(wanted[static_cast<size_t>(first) + i]);
      const Scale scale = choose({run.data(), length}, row, index, floor);
      for (int64_t k = first; k < first + static_cast<int64_t>(length); ++k) {
        const auto at = static_cast<size_t>(k);
        const uint16_t code = encode(element(), scale, static_cast<float>(wanted[at]));
        codes[at] = static_cast<uint8_t>(code);
        float decoded = decode(element(), scale, code);
        if (unit > 0) round_to_unit(unit, {&decoded, 1});
        const double error = exact[at] - static_cast<double>(decoded);
        const auto after = factors_.after(k);
        for (size_t j = 0; j < after.size(); ++j) wanted[at + 1 + j] += error * after[j];
      }
    }
    if (spec_.window == kNoWindow || is_on_units()) return;
    limit_to_window(spec_, codes,
                    {out_.scales.codes.data() + row * groups(), static_cast<size_t>(groups())});
  }

 private:
  [[nodiscard]] const formats::Element& element() const { return spec_.format->element; }
  [[nodiscard]] int64_t groups() const { return (out_.cols + group_ - 1) / group_; }

  [[nodiscard]] bool is_on_units() const {
    return spec_.window != kNoWindow && spec_.has_scale_codes();
  }

  /// The scales of a row with a window before any compensation.
  [[nodiscard]] std::vector<Scale> first_scales(std::span<const double> exact) const {
    if (spec_.window == kNoWindow) return {};
    const std::vector<float> values(exact.begin(), exact.end());
    return quantizer_.scales_of({values.data(), 1, out_.cols});
  }

  /// Where the window puts the least scale code if compensation does not raise the row's largest.
  [[nodiscard]] uint8_t lowest_scale(std::span<const Scale> scales) const {
    if (spec_.window == kNoWindow || is_on_units()) return 0;
    std::vector<uint8_t> codes;
    for (const Scale& scale : scales)
      codes.push_back(static_cast<uint8_t>(E8m0fnu::encode(scale.scale)));
    return window_floor(spec_, codes);
  }

  /// The scale of a run, which it stores. Threads have rows of their own, so that no two write to
  /// one place.
  Scale choose(std::span<const float> run, int64_t row, int64_t index, uint8_t floor) {
    const auto at = static_cast<size_t>(index);
    const ConstMat view{run.data(), 1, std::ssize(run)};
    if (!whole_.empty()) return whole_[whole_.size() == 1 ? 0 : static_cast<size_t>(row)];
    if (spec_.format->scaling == Scaling::TwoLevel) {
      const uint32_t most = kernels().absmax_bits(run.data(), std::ssize(run));
      const uint16_t code = formats::two_level_block_scale(element(), std::bit_cast<float>(most),
                                                           out_.scales.tensor_scale);
      out_.scales.codes[at] = static_cast<uint8_t>(code);
      return {.scale = formats::two_level_scale(code, out_.scales.tensor_scale)};
    }
    const Scale scale = quantizer_.scales_of(view)[0];
    if (spec_.format->scaling == Scaling::None) return out_.scales.floats[at] = scale;
    const auto code = std::max<uint16_t>(E8m0fnu::encode(scale.scale), floor);
    out_.scales.codes[at] = static_cast<uint8_t>(code);
    return {.scale = E8m0fnu::decode(code)};
  }

  const Quantizer& quantizer_;
  const QuantSpec& spec_;
  const Factors& factors_;
  QuantizedMatrix& out_;
  int64_t group_ = 0;
  std::vector<Scale> whole_;  // where scales do not follow the errors
};

/// The weights of a row that reproduce its outputs of exact inputs: w (C + aI) (S + aI)^-1.
std::vector<double> started(std::span<const float> weight, const InputMoments& moments,
                            const Damped& damped) {
  std::vector<double> row(weight.begin(), weight.end());
  const std::vector<double>& crossed = moments.crossed();
  if (crossed.empty()) return row;
  const size_t length = row.size();
  for (double& value : row) value *= damped.added;
  for (size_t i = 0; i < length; ++i) {
    const auto factor = static_cast<double>(weight[i]);
    for (size_t j = 0; j < length; ++j) row[j] += factor * crossed[i * length + j];
  }
  damped.factors.solve(row);
  return row;
}

}  // namespace

FeedbackResult quantize_with_feedback(const Quantizer& quantizer, ConstMat weight,
                                      const InputMoments& moments, Then then, int64_t threads) {
  DRIFTLESS_REQUIRE(moments.length() == weight.cols && moments.rows() > 0,
                    ErrorCode::InvalidArgument, "error feedback: moments; got ", moments.rows(),
                    " rows of ", moments.length(), " inputs, expected at least one of ",
                    weight.cols);
  FeedbackResult result{.matrix = quantizer.quantize(weight)};
  std::vector<double> squares = moments.squares();
  for (int64_t i = 0; i < weight.cols; ++i)
    result.unseen += squares[static_cast<size_t>(i * weight.cols + i)] == 0 ? 1 : 0;
  const Damped damped = damped_factors(squares, weight.cols);
  result.damping = damped.share;
  ThreadPool pool(std::clamp<int64_t>(threads, 1, weight.rows));
  std::vector<std::vector<double>> rows(static_cast<size_t>(weight.rows));
  pool.parallel_for(weight.rows, [&](int64_t row, int64_t) {
    rows[static_cast<size_t>(row)] = started(weight.row(row), moments, damped);
  });
  std::vector<float> exact;
  exact.reserve(static_cast<size_t>(weight.size()));
  for (const std::vector<double>& row : rows) exact.insert(exact.end(), row.begin(), row.end());
  RowRounder rounder(quantizer, damped.factors, {exact.data(), weight.rows, weight.cols},
                     result.matrix);
  pool.parallel_for(weight.rows, [&](int64_t row, int64_t) {
    rounder.round(row, rows[static_cast<size_t>(row)]);
  });
  if (then == Then::Nothing) return result;
  for (int64_t i = 0; i < weight.cols; ++i)
    squares[static_cast<size_t>(i * weight.cols + i)] += damped.added;
  pool.parallel_for(weight.rows, [&](int64_t row, int64_t) {
    descend(squares, rows[static_cast<size_t>(row)], result.matrix, row);
  });
  return result;
}

}  // namespace driftless::quant
