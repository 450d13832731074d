// SPDX-License-Identifier: Apache-2.0
#include "driftless/native/reasoner/build.h"

namespace driftless::native {
namespace {

constexpr const char* kHint = "; simulation only, without --native";

void require_runnable(const quant::LayerPlan* plan, const std::string& name) {
  const auto refuse = [&](const char* why) {
    fail(ErrorCode::Unsupported, "layer '", name, "': ", why, kHint);
  };
  if (plan == nullptr || plan->weights.is_none())
    refuse("its weights are floats, the native engine multiplies integers");
  if (plan->acts.is_none())
    refuse("its activations are floats, the native engine multiplies integers");
  if (plan->smooth) refuse("the native engine does not smooth inputs");
  if (plan->hadamard) refuse("the native engine does not rotate inputs");
}

}  // namespace

bool is_planned(const NativeBuild& build, const std::string& name) {
  return build.model.plan.find(name) != nullptr;
}

NativeLayer native_layer(const NativeBuild& build, const std::string& name) {
  const quant::LayerPlan* const plan = build.model.plan.find(name);
  require_runnable(plan, name);
  try {
    require_supported(plan->weights);
    NativeLayer layer{name, quant::unpack(build.model.weights.at(name).matrix), plan->acts};
    const RowMatrix rows = RowQuantizer(plan->acts, build.set).make(1, layer.weight.cols);
    const int64_t most = largest_k(rows.form, integer_form(layer.weight));
    DRIFTLESS_REQUIRE(layer.weight.cols <= most, ErrorCode::Unsupported, "reduction length; got ",
                      layer.weight.cols, ", expected at most ", most,
                      "; quantize with a smaller window");
    return layer;
  } catch (const Error& error) {
    fail(error.code(), "layer '", name, "': ", error.what(), kHint);
  }
}

Linear::Linear(NativeBuild& build, const NativeLayer& layer, int64_t rows)
    : name_(layer.name),
      quantizer_(layer.acts, build.set),
      weight_(make_panels(layer.weight, build.set, quantizer_.form())),
      scratch_(build.shared({.rows = rows, .k = weight_.k, .input = layer.acts},
                            [&] { return quantizer_.make(rows, weight_.k); })) {}

void Linear::run(const loop::Work& work, quant::ConstMat in, quant::Mat out) const {
  RowMatrix& rows = (*scratch_)[static_cast<size_t>(work.worker)];
  naming_layer(work, name_, [&] {
    quantizer_.quantize_rows(in, rows);
    multiply_rows(rows, in.rows, weight_, out);
  });
}

}  // namespace driftless::native
