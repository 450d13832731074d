// SPDX-License-Identifier: Apache-2.0
#include "driftless/native/native_reasoner.h"

#include <algorithm>

#include "driftless/base/error.h"
#include "driftless/loop/stage_reasoner.h"
#include "driftless/native/reasoner/build.h"
#include "driftless/quant/scale/window.h"

namespace driftless::native {
namespace {

class Builder : public loop::BlockBuilder {
 public:
  explicit Builder(NativeBuild& build) : build_(build) {}
  void add_token_mixer(loop::Stages& stages, const std::string& prefix) override {
    native::add_token_mixer(stages, build_, prefix);
  }
  void add_attention(loop::Stages& stages, const std::string& prefix) override {
    native::add_attention(stages, build_, prefix);
  }
  void add_channel_mixer(loop::Stages& stages, const std::string& prefix) override {
    native::add_channel_mixer(stages, build_, prefix);
  }
  std::unique_ptr<loop::Stage> make_heads() override { return native::make_heads(build_); }

 private:
  NativeBuild& build_;
};

}  // namespace

quant::QuantSpec with_window(quant::QuantSpec spec, bool delta) {
  const bool is_mx_integer = !spec.is_none() && spec.granularity == quant::Granularity::Block &&
                             spec.format->scaling == formats::Scaling::PowerOfTwo &&
                             spec.format->element.code_sign == formats::CodeSign::TwosComplement;
  if (is_mx_integer && spec.window == quant::kNoWindow) spec.window = kDefaultWindow;
  if (!spec.has_scale_codes() || spec.window != quant::kNoWindow) return spec;
  spec.window = delta ? kDeltaScaleWindow : kDefaultScaleWindow;
  if (!quant::has_integer_rows(spec)) spec.window = kDefaultScaleWindow;
  return spec;
}

quant::QuantPlan with_windows(quant::QuantPlan plan) {
  for (quant::LayerPlan& layer : plan.layers) {
    layer.weights = with_window(layer.weights, layer.delta);
    layer.acts = with_window(layer.acts, layer.delta);
  }
  return plan;
}

std::unique_ptr<reason::Reasoner> make_native_reasoner(const store::PackedModel& model,
                                                       const NativeOptions& options) {
  NativeBuild build{
      .model = model,
      .layout = loop::Layout::for_threads(model.config, std::max(int64_t{1}, options.threads)),
      .workers = options.threads,
      .slots = options.slots,
      .set = options.kernels != nullptr ? *options.kernels : kernels(),
      .epilogues = options.epilogues != nullptr ? *options.epilogues : loop::epilogues()};
  Builder builder(build);
  return loop::make_stage_reasoner({.config = model.config,
                                    .tensors = model.tensors,
                                    .layout = build.layout,
                                    .slots = options.slots,
                                    .threads = options.threads,
                                    .epilogues = build.epilogues,
                                    .builder = builder,
                                    .memory = build.memory,
                                    .shows_inputs = false});
}

std::string why_simulated(const store::PackedModel& model) {
  try {
    (void)make_native_reasoner(model, {.slots = 1});
    return "";
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Unsupported) throw;
    return error.what();
  }
}

}  // namespace driftless::native
