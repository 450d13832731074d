// SPDX-License-Identifier: Apache-2.0
#include "driftless/simulate/accumulator_observer.h"

#include <algorithm>
#include <numeric>

#include "driftless/integer/row_quantizer.h"
#include "driftless/quant/scale/window.h"
#include "driftless/simulate/cpu_reasoner.h"
#include "driftless/simulate/planned_model.h"

namespace driftless::simulate {
namespace {

using quant::QuantizedMatrix;

/// The window of scale= is how its codes are read; they are the same without.
quant::QuantSpec without_window(quant::QuantSpec spec) {
  if (!spec.has_scale_codes()) spec.window = quant::kNoWindow;
  return spec;
}

/// What the spec's own quantizer gives, from what it gives without its window.
void apply_window(const quant::QuantSpec& spec, QuantizedMatrix& matrix) {
  matrix.spec = spec;
  if (spec.window == quant::kNoWindow || spec.has_scale_codes()) return;
  const auto blocks = std::ssize(matrix.scales.codes) / matrix.rows;
  for (int64_t row = 0; row < matrix.rows; ++row) {
    quant::limit_to_window(
        spec, {matrix.codes.data() + row * matrix.cols, static_cast<size_t>(matrix.cols)},
        {matrix.scales.codes.data() + row * blocks, static_cast<size_t>(blocks)});
  }
}

void add_counts(const std::vector<int64_t>& more, std::vector<int64_t>& counts) {
  counts.resize(std::max(counts.size(), more.size()));
  std::transform(more.begin(), more.end(), counts.begin(), counts.begin(), std::plus<>());
}

int64_t sum_from(const std::vector<int64_t>& counts, int64_t first) {
  const int64_t from = std::clamp<int64_t>(first, 0, std::ssize(counts));
  return std::accumulate(counts.begin() + from, counts.end(), int64_t{0});
}

double share_from(const std::vector<int64_t>& counts, int64_t first) {
  const int64_t all = sum_from(counts, 0);
  return all == 0 ? 0 : static_cast<double>(sum_from(counts, first)) / static_cast<double>(all);
}

}  // namespace

int64_t FactorExponents::widest() const { return std::max<int64_t>(std::ssize(spread) - 1, 0); }

double FactorExponents::share_raised() const { return share_from(spread, window + 1); }

int64_t FactorExponents::least_shift() const { return window - std::min(widest(), window); }

int64_t LayerAccumulation::sums() const { return sum_from(bits, 0); }

double LayerAccumulation::share_beyond(int64_t accumulator_bits) const {
  return share_from(bits, accumulator_bits + 1);
}

AccumulatorObserver::AccumulatorObserver(const store::Checkpoint& checkpoint,
                                         const quant::QuantPlan& plan)
    : schedule_(model::schedule(checkpoint.config)) {
  require_integer_layers(plan);
  const PlannedModel transformed = plan_model(checkpoint, without_quantizers(plan));
  for (const quant::LayerPlan& layer : plan.layers) {
    const store::Tensor& weight = transformed.tensors.at(layer.name);
    const int64_t outputs = weight.shape[0];
    const int64_t k = weight.shape[1];
    QuantizedMatrix matrix = quant::Quantizer(without_window(layer.weights))
                                 .quantize({weight.values.data(), outputs, k});
    LayerAccumulation blank{
        .layer = layer.name, .updates = model::State::L, .k = k, .outputs = outputs};
    blank.weights.spread = integer::exponent_spread(matrix);
    apply_window(layer.weights, matrix);
    integer::AccumulatedProduct product(matrix, integer::kernels());
    blank.weights.window = product.form().window;
    blank.acts.window = integer::RowQuantizer(layer.acts, integer::kernels()).form().window;
    const uint64_t largest_act = integer::largest_integer(layer.acts, blank.acts.window);
    const uint64_t largest_weight = integer::largest_integer(layer.weights, blank.weights.window);
    blank.bits_for_weights = integer::bits_of_magnitude(product.largest_column_sum() * largest_act);
    blank.bits_for_any_operands = integer::guaranteed_bits(k, largest_act, largest_weight);
    order_.push_back(layer.name);
    layers_.emplace(layer.name, Layer{layer.acts, quant::Quantizer(without_window(layer.acts)),
                                      std::move(product), std::move(blank)});
  }
}

void AccumulatorObserver::observe(const reason::Observation& seen) {
  const auto found = layers_.find(seen.layer);
  if (found == layers_.end()) return;
  const Layer& layer = found->second;
  const reason::StridedView& view = seen.values;
  values_.resize(static_cast<size_t>(view.rows * view.columns));
  for (int64_t row = 0; row < view.rows; ++row)
    for (int64_t column = 0; column < view.columns; ++column)
      values_[static_cast<size_t>(row * view.columns + column)] = view.at(row, column);
  QuantizedMatrix acts = layer.unlimited.quantize({values_.data(), view.rows, view.columns});

  const model::State updates =
      schedule_[static_cast<size_t>(std::min<int64_t>(seen.call, std::ssize(schedule_) - 1))]
          .updates;
  LayerAccumulation& result = seen_.try_emplace({found->first, updates}, layer.blank).first->second;
  result.updates = updates;
  add_counts(integer::exponent_spread(acts), result.acts.spread);
  apply_window(layer.acts, acts);

  const int64_t columns = layer.product.columns();
  sums_.resize(static_cast<size_t>(view.rows * columns));
  reach_.resize(sums_.size());
  layer.product.run(acts, {}, {sums_.data(), view.rows, columns}, reach_);
  for (const uint64_t reach : reach_) {
    const auto bits = static_cast<size_t>(integer::bits_of_magnitude(reach));
    if (result.bits.size() <= bits) result.bits.resize(bits + 1);
    ++result.bits[bits];
  }
}

std::vector<LayerAccumulation> AccumulatorObserver::layers() const {
  std::vector<LayerAccumulation> all;
  for (const std::string& name : order_) {
    for (const model::State state : {model::State::L, model::State::H}) {
      const auto found = seen_.find({name, state});
      if (found != seen_.end()) all.push_back(found->second);
    }
  }
  return all;
}

}  // namespace driftless::simulate
