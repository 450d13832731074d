// SPDX-License-Identifier: Apache-2.0
#include "driftless/native/native_reasoner.h"

#include "driftless/loop/stage_reasoner.h"
#include "driftless/native/reasoner/build.h"

namespace driftless::native {
namespace {

void add_block(loop::Stages& stages, NativeBuild& build, const std::string& prefix) {
  if (build.model.config.mixer == model::Mixer::Tokens)
    add_token_mixer(stages, build, prefix + ".mlp_t");
  else
    add_attention(stages, build, prefix + ".self_attn");
  add_channel_mixer(stages, build, prefix + ".mlp");
}

}  // namespace

quant::QuantSpec with_window(quant::QuantSpec spec) {
  const bool is_mx_integer = !spec.is_none() && spec.granularity == quant::Granularity::Block &&
                             spec.format->scaling == formats::Scaling::PowerOfTwo &&
                             spec.format->element.code_sign == formats::CodeSign::TwosComplement;
  if (is_mx_integer && spec.window == quant::kNoWindow) spec.window = kDefaultWindow;
  return spec;
}

quant::QuantPlan with_windows(quant::QuantPlan plan) {
  for (quant::LayerPlan& layer : plan.layers) {
    layer.weights = with_window(layer.weights);
    layer.acts = with_window(layer.acts);
  }
  return plan;
}

std::unique_ptr<reason::Reasoner> make_native_reasoner(const store::PackedModel& model,
                                                       const NativeOptions& options) {
  // Integer products do not depend on how rows are cut; one thread keeps a board whole, so that
  // weights pass through the caches once a stage.
  const auto cut = options.threads == 1 ? loop::Cut::Whole : loop::Cut::Parts;
  NativeBuild build{
      .model = model,
      .layout = loop::Layout(model.config, cut),
      .workers = options.threads,
      .slots = options.slots,
      .set = options.kernels != nullptr ? *options.kernels : kernels(),
      .epilogues = options.epilogues != nullptr ? *options.epilogues : loop::epilogues()};
  return loop::make_stage_reasoner(
      {.config = model.config,
       .tensors = model.tensors,
       .layout = build.layout,
       .slots = options.slots,
       .threads = options.threads,
       .epilogues = build.epilogues,
       .add_block = [&](loop::Stages& stages,
                        const std::string& prefix) { add_block(stages, build, prefix); },
       .heads = make_heads(build),
       .shows_inputs = false});
}

}  // namespace driftless::native
