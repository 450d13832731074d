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
    NativeLayer layer{name, quant::unpack(build.model.weights.at(name).matrix), plan->acts,
                      plan->delta};
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

LayerSums::LayerSums(NativeBuild& build, const NativeLayer& layer, int64_t rows)
    : is_kept_(layer.is_change), input_count_(layer.weight.cols), output_count_(layer.weight.rows) {
  if (!is_kept_) return;
  inputs_ = build.memory.claim(rows * input_count_);
  outputs_ = build.memory.claim(rows * output_count_);
}

Linear::Linear(NativeBuild& build, const NativeLayer& layer, int64_t rows)
    : name_(layer.name),
      quantizer_(layer.acts, build.set),
      weight_(make_panels(layer.weight, build.set, quantizer_.form())),
      epilogues_(build.epilogues),
      is_change_(layer.is_change),
      scratch_(build.shared(
          {.rows = rows, .k = weight_.k, .input = layer.acts, .has_changes = is_change_},
          [&] {
            const int64_t changes = is_change_ ? rows * weight_.k : 0;
            return LinearScratch{quantizer_.make(rows, weight_.k),
                                 AlignedVector<float>(static_cast<size_t>(changes))};
          })),
      sums_(build, layer, rows) {}

void Linear::run(const loop::Work& work, int64_t first, quant::ConstMat in, quant::Mat out) const {
  LinearScratch& scratch = (*scratch_)[static_cast<size_t>(work.worker)];
  naming_layer(work, name_, [&] {
    if (!is_change_) {
      quantizer_.quantize_rows(in, scratch.rows);
      return multiply_rows(scratch.rows, in.rows, weight_, out);
    }
    float* const sums = sums_.inputs(work, first);
    for (int64_t pass = 0; pass < work.passes; ++pass) {
      epilogues_.subtract(in.data, sums, scratch.change.data(), in.size());
      quantizer_.quantize_rows({scratch.change.data(), in.rows, in.cols}, scratch.rows);
      add_values(scratch.rows, in.rows, {sums, in.cols, integer::kBlock}, epilogues_);
      multiply_rows(scratch.rows, in.rows, weight_, out);
      epilogues_.add_up(sums_.outputs(work, first), out.data, out.size());
    }
  });
}

}  // namespace driftless::native
