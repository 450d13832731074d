// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/plan/moments.h"

#include <algorithm>
#include <set>
#include <vector>

#include "driftless/base/error.h"

namespace driftless::reason {
namespace {

using quant::ConstMat;
using quant::LayerPlan;
using quant::QuantPlan;

/// Each part has moments of its own until all boards have run.
constexpr int64_t kParts = 4;

class MomentObserver : public StepObserver {
 public:
  MomentObserver(const QuantPlan& plan, Exact exact) : exact_(exact) {
    for (const LayerPlan& layer : plan.layers) {
      if (layer.weights.is_none()) continue;
      moments_[layer.name];
      if (!layer.acts.is_none()) quantized_.insert(layer.name);
    }
  }

  [[nodiscard]] bool wants(Point point) const override {
    return point == Point::LinearInput || point == Point::QuantizedInput;
  }

  /// A backend shows a quantized input right after the exact one.
  void observe(const Observation& seen) override {
    const auto target = moments_.find(seen.layer);
    if (target == moments_.end()) return;
    const bool is_quantized = quantized_.find(seen.layer) != quantized_.end();
    if (is_quantized && seen.point == Point::LinearInput) {
      if (exact_ == Exact::Crossed) dense(seen.values, before_);
      return;
    }
    const ConstMat inputs = dense(seen.values, now_);
    if (is_quantized && exact_ == Exact::Crossed)
      target->second.add(inputs, {before_.data(), inputs.rows, inputs.cols});
    else
      target->second.add(inputs);
  }

  [[nodiscard]] const Moments& moments() const { return moments_; }

 private:
  static ConstMat dense(const StridedView& view, std::vector<float>& out) {
    out.resize(static_cast<size_t>(view.rows * view.columns));
    size_t at = 0;
    for (int64_t row = 0; row < view.rows; ++row)
      for (int64_t column = 0; column < view.columns; ++column) out[at++] = view.at(row, column);
    return {out.data(), view.rows, view.columns};
  }

  Exact exact_;
  Moments moments_;
  std::set<std::string, std::less<>> quantized_;
  std::vector<float> before_, now_;
};

}  // namespace

Moments input_moments(const MakeReasoner& make, std::span<const Board> boards,
                      const QuantPlan& plan, Exact exact, int64_t threads,
                      const OnBoard& on_board) {
  DRIFTLESS_REQUIRE(!boards.empty(), ErrorCode::InvalidArgument,
                    "second moments: no boards; expected at least one");
  QuantPlan float_weights = plan;
  for (LayerPlan& layer : float_weights.layers) {
    layer.weights = {};
    layer.weight_scales.clear();
  }
  const int64_t parts = std::min<int64_t>(kParts, std::ssize(boards));
  std::vector<MomentObserver> seen(static_cast<size_t>(parts), MomentObserver(plan, exact));
  std::vector<StepObserver*> observers;
  observers.reserve(seen.size());
  for (MomentObserver& part : seen) observers.push_back(&part);
  watch({make, &float_weights, boards, "halt"}, observers, threads, on_board);
  Moments all = seen[0].moments();
  for (const MomentObserver& part : std::span(seen).subspan(1))
    for (const auto& [name, moments] : part.moments()) all.at(name).merge(moments);
  return all;
}

}  // namespace driftless::reason
