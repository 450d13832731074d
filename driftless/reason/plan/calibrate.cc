// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/plan/calibrate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "driftless/base/error.h"
#include "driftless/base/rng.h"
#include "driftless/base/shuffle.h"
#include "driftless/model/schedule.h"
#include "driftless/quant/calibrate/calibration.h"
#include "driftless/quant/plan/smooth.h"

namespace driftless::reason {
namespace {

using quant::Calibrator;
using quant::LayerPlan;
using quant::QuantPlan;
using quant::ScaleSharing;

/// Sees the inputs of linear layers.
class InputObserver : public StepObserver {
 public:
  [[nodiscard]] bool wants(Point point) const override { return point == Point::LinearInput; }
};

/// Keeps the largest magnitude of each input of the layers that are to be smoothed.
class RangeObserver : public InputObserver {
 public:
  explicit RangeObserver(const QuantPlan& plan) {
    for (const LayerPlan& layer : plan.layers)
      if (layer.smooth && layer.input_absmax.empty()) absmax_[layer.name];
  }
  [[nodiscard]] bool is_needed() const { return !absmax_.empty(); }

  void observe(const Observation& seen) override {
    const auto target = absmax_.find(seen.layer);
    if (target == absmax_.end()) return;
    std::vector<float>& absmax = target->second;
    const StridedView& view = seen.values;
    absmax.resize(static_cast<size_t>(view.columns));
    if (view.column_stride == 1) {
      for (int64_t row = 0; row < view.rows; ++row)
        quant::update_column_absmax({view.data + row * view.row_stride, 1, view.columns}, absmax);
      return;
    }
    for (int64_t column = 0; column < view.columns; ++column) {
      float& most = absmax[static_cast<size_t>(column)];
      for (int64_t row = 0; row < view.rows; ++row)
        most = std::max(most, std::abs(view.at(row, column)));
    }
  }
  void merge(const RangeObserver& other) {
    for (const auto& [name, theirs] : other.absmax_) {
      std::vector<float>& mine = absmax_.at(name);
      mine.resize(std::max(mine.size(), theirs.size()));
      for (size_t i = 0; i < theirs.size(); ++i) mine[i] = std::max(mine[i], theirs[i]);
    }
  }
  void fill(QuantPlan& plan) const {
    for (LayerPlan& layer : plan.layers)
      if (const auto found = absmax_.find(layer.name); found != absmax_.end())
        layer.input_absmax = found->second;
  }

 private:
  std::map<std::string, std::vector<float>, std::less<>> absmax_;
};

bool lacks_scales(const LayerPlan& layer) { return layer.needs_scales() && layer.scales.empty(); }

/// Keeps what the layers with static scales see in each call.
class ScaleObserver : public InputObserver {
 public:
  explicit ScaleObserver(std::span<const QuantPlan> plans) : keep_(keep_for(plans)), seen_(keep_) {
    for (const QuantPlan& plan : plans)
      for (const LayerPlan& layer : plan.layers)
        if (lacks_scales(layer)) targets_.insert(layer.name);
  }

  void observe(const Observation& seen) override {
    if (targets_.find(seen.layer) == targets_.end()) return;
    seen_.observe(seen.layer, seen.call, dense(seen.values));
  }
  [[nodiscard]] bool wants_extremes_only() const override {
    return keep_ == Calibrator::Keep::Extents;
  }
  void merge(const ScaleObserver& other) { seen_.merge(other.seen_); }
  [[nodiscard]] bool is_needed() const { return !targets_.empty(); }
  [[nodiscard]] const Calibrator& seen() const { return seen_; }

 private:
  static Calibrator::Keep keep_for(std::span<const QuantPlan> plans) {
    const auto is_absmax = [](const LayerPlan& layer) {
      return !lacks_scales(layer) || layer.acts.calibration == quant::Calibration{};
    };
    const bool are_all = std::all_of(plans.begin(), plans.end(), [&](const QuantPlan& plan) {
      return std::all_of(plan.layers.begin(), plan.layers.end(), is_absmax);
    });
    return are_all ? Calibrator::Keep::Extents : Calibrator::Keep::Histograms;
  }

  /// All values of a view as one row, in the order in which they lie.
  quant::ConstMat dense(const StridedView& view) {
    const int64_t count = view.rows * view.columns;
    if (view.column_stride == 1 && view.row_stride == view.columns) return {view.data, 1, count};
    const bool has_rows = view.column_stride == 1;
    const int64_t lines = has_rows ? view.rows : view.columns;
    const int64_t stride = has_rows ? view.row_stride : view.column_stride;
    DRIFTLESS_ASSERT(has_rows || view.row_stride == 1);
    copy_.resize(static_cast<size_t>(count));
    for (int64_t line = 0; line < lines; ++line)
      std::copy_n(view.data + line * stride, count / lines, copy_.begin() + line * (count / lines));
    return {copy_.data(), 1, count};
  }

  std::set<std::string, std::less<>> targets_;
  Calibrator::Keep keep_;
  Calibrator seen_;
  std::vector<float> copy_;
};

/// Shows the boards to copies of the observer, one a thread, and merges them into it.
template <class Observer>
void watch_with(Observer& observer, const Watched& watched, int64_t threads,
                const OnBoard& on_board) {
  threads = std::clamp<int64_t>(threads, 1, std::ssize(watched.boards));
  std::vector<Observer> copies(static_cast<size_t>(threads), observer);
  std::vector<StepObserver*> observers;
  observers.reserve(copies.size());
  for (Observer& copy : copies) observers.push_back(&copy);
  watch(watched, observers, threads, on_board);
  for (const Observer& copy : copies) observer.merge(copy);
}

/// The plan with its transforms alone.
QuantPlan without_quantizers(QuantPlan plan) {
  plan.attention = quant::AttentionPrecision::Float;
  for (LayerPlan& layer : plan.layers) {
    layer.weights = layer.acts = {};
    layer.bias = {};
    layer.sharing = {};
    layer.scales.clear();
    layer.weight_scales.clear();
  }
  return plan;
}

std::vector<quant::Scale> scales_of(const LayerPlan& layer, const Calibrator& seen,
                                    std::span<const model::NetworkCall> schedule) {
  const quant::Scale shared = seen.scale(layer.name, layer.acts);
  if (layer.sharing == ScaleSharing::All) return {shared};
  const auto observed = seen.calls(layer.name);
  const auto is_observed = [&](int64_t call) {
    return call < std::ssize(observed) && observed[static_cast<size_t>(call)].count() > 0;
  };
  const auto is_alike = [&](size_t a, size_t b) {
    return layer.sharing == ScaleSharing::Role ? schedule[a].updates == schedule[b].updates
                                               : a == b;
  };
  std::vector<quant::Scale> scales;
  scales.reserve(schedule.size());
  for (size_t call = 0; call < schedule.size(); ++call) {
    std::vector<int64_t> alike;
    for (size_t other = 0; other < schedule.size(); ++other)
      if (is_alike(call, other) && is_observed(static_cast<int64_t>(other)))
        alike.push_back(static_cast<int64_t>(other));
    scales.push_back(alike.empty() ? shared : seen.scale(layer.name, layer.acts, alike));
  }
  return scales;
}

}  // namespace

void calibrate(const MakeReasoner& make, std::span<const Board> boards, QuantPlan& plan,
               int64_t threads) {
  calibrate(make, boards, std::span(&plan, 1), threads);
}

void calibrate(const MakeReasoner& make, std::span<const Board> boards, std::span<QuantPlan> plans,
               int64_t threads, const OnBoard& on_board) {
  if (std::none_of(plans.begin(), plans.end(),
                   [](const QuantPlan& plan) { return plan.needs_calibration(); }))
    return;
  DRIFTLESS_REQUIRE(!boards.empty(), ErrorCode::InvalidArgument,
                    "calibration: no boards; expected at least one");
  const QuantPlan before = without_quantizers(plans[0]);
  for (const QuantPlan& plan : plans)
    DRIFTLESS_REQUIRE(without_quantizers(plan) == before, ErrorCode::InvalidArgument,
                      "calibration: plans differ in layers, smoothing or rotations; expected "
                      "plans that differ in quantizers");
  if (RangeObserver ranges(plans[0]); ranges.is_needed()) {
    watch_with(ranges, {make, nullptr, boards}, threads, on_board);
    for (QuantPlan& plan : plans) ranges.fill(plan);
  }
  ScaleObserver scales(plans);
  if (!scales.is_needed()) return;
  const QuantPlan transforms = without_quantizers(plans[0]);
  watch_with(scales, {make, &transforms, boards}, threads, on_board);
  const std::vector<model::NetworkCall> schedule = model::schedule(make(&transforms)->config());
  for (QuantPlan& plan : plans)
    for (LayerPlan& layer : plan.layers)
      if (lacks_scales(layer)) layer.scales = scales_of(layer, scales.seen(), schedule);
}

std::vector<Board> draw_boards(std::span<const Board> boards, int64_t count, uint64_t seed) {
  DRIFTLESS_REQUIRE(count >= 1 && count <= std::ssize(boards), ErrorCode::InvalidArgument,
                    "calibration boards; got ", count, ", expected 1 to ", boards.size(),
                    ", as many as there are");
  std::vector<Board> drawn(boards.begin(), boards.end());
  Rng rng(seed);
  shuffle(std::span(drawn), rng);
  drawn.resize(static_cast<size_t>(count));
  return drawn;
}

}  // namespace driftless::reason
