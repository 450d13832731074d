// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/repack.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/model/schedule.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/reason/plan/linear_layers.h"

namespace driftless::run {
namespace {

void require_activations_alone(const SchemeText& scheme) {
  const SchemeText none;
  const bool is_alone = scheme.weights == none.weights && scheme.coverage == none.coverage &&
                        scheme.bias == none.bias && scheme.scales == none.scales &&
                        !scheme.smooth && !scheme.hadamard && scheme.attention == none.attention &&
                        scheme.plan.empty();
  DRIFTLESS_REQUIRE(is_alone && scheme.acts != none.acts, ErrorCode::InvalidArgument,
                    "quantize: the model is packed and keeps its weights; expected --acts, with "
                    "--delta or without, and no more; its source takes any scheme");
}

}  // namespace

store::PackedModel repack(store::PackedModel model, const SchemeText& scheme) {
  require_activations_alone(scheme);
  const quant::QuantSpec acts = quant::parse_quant_spec(scheme.acts);
  const std::vector<quant::LinearLayer> layers = reason::linear_layers(model.config);
  for (quant::LayerPlan& planned : model.plan.layers) {
    planned.acts = acts;
    planned.scales.clear();
    planned.sharing = quant::ScaleSharing::All;
    const auto layer = std::ranges::find(layers, planned.name, &quant::LinearLayer::name);
    planned.delta = scheme.delta && layer->is_in_block;
    // As wide as activations ask for, not as wide as it was.
    if (planned.weights.has_scale_codes()) planned.weights.window = quant::kNoWindow;
  }
  DRIFTLESS_REQUIRE(!model.plan.needs_calibration(), ErrorCode::InvalidArgument,
                    "quantize: --acts; got '", scheme.acts,
                    "', whose scales need boards and the float model; expected scales that are "
                    "taken from the activations themselves, such as int8/token");
  model.plan = native::with_windows(std::move(model.plan));
  quant::require_fits(model.plan, layers, std::ssize(model::schedule(model.config)), "quantize");
  model.calibration.clear();
  return model;
}

}  // namespace driftless::run
