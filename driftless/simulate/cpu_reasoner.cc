// SPDX-License-Identifier: Apache-2.0
#include "driftless/simulate/cpu_reasoner.h"

#include "driftless/base/error.h"
#include "driftless/integer/row_quantizer.h"
#include "driftless/loop/stage_reasoner.h"
#include "driftless/model/schedule.h"
#include "driftless/simulate/block.h"

namespace driftless::simulate {
namespace {

class Builder : public loop::BlockBuilder {
 public:
  explicit Builder(const Build& build) : build_(build) {}
  void add_token_mixer(Stages& stages, const std::string& prefix) override {
    simulate::add_token_mixer(stages, build_, prefix);
  }
  void add_attention(Stages& stages, const std::string& prefix) override {
    simulate::add_attention(stages, build_, prefix);
  }
  void add_channel_mixer(Stages& stages, const std::string& prefix) override {
    simulate::add_channel_mixer(stages, build_, prefix);
  }
  std::unique_ptr<Stage> make_heads() override { return simulate::make_heads(build_); }

 private:
  const Build& build_;
};

/// `tensors` and `planned` hold the weights as they are multiplied.
std::unique_ptr<reason::Reasoner> build_reasoner(const model::ModelConfig& config,
                                                 const store::TensorMap& tensors,
                                                 const PlannedModel& planned,
                                                 const IntegerLayers& integers,
                                                 const CpuOptions& options) {
  loop::SlotMemory memory;
  const Build build{
      .config = config,
      .tensors = tensors,
      .layout = Layout(config, planned.needs_whole_boards() ? loop::Cut::Whole : loop::Cut::Parts),
      .dtype = options.dtype,
      .workers = options.threads,
      .slots = options.slots,
      .epilogues = options.epilogues != nullptr ? *options.epilogues : loop::epilogues(),
      .integers = integers,
      .planned = planned.layers,
      .attention = planned.attention,
      .memory = memory};
  Builder builder(build);
  return loop::make_stage_reasoner({.config = build.config,
                                    .tensors = build.tensors,
                                    .layout = build.layout,
                                    .slots = options.slots,
                                    .threads = options.threads,
                                    .epilogues = build.epilogues,
                                    .builder = builder,
                                    .memory = memory});
}

IntegerLayers integer_layers(const quant::QuantPlan& plan,
                             const integer::Accumulator& accumulator) {
  require_integer_layers(plan);
  IntegerLayers layers;
  for (const quant::LayerPlan& layer : plan.layers)
    layers.emplace(layer.name, IntegerArithmetic{layer.weights, layer.acts, accumulator});
  return layers;
}

}  // namespace

quant::QuantPlan without_quantizers(const quant::QuantPlan& plan) {
  quant::QuantPlan bare = plan;
  for (quant::LayerPlan& layer : bare.layers) layer.weights = layer.acts = {};
  return bare;
}

void require_integer_layers(const quant::QuantPlan& plan) {
  for (const quant::LayerPlan& layer : plan.layers) {
    DRIFTLESS_REQUIRE(layer.name != "q_head.weight", ErrorCode::Unsupported, "layer '", layer.name,
                      "': is no matrix product; quantize the layers of the block only");
    DRIFTLESS_REQUIRE(!layer.delta, ErrorCode::Unsupported, "layer '", layer.name,
                      "': delta; expected inputs, whose sums are what accumulators meet");
    try {
      integer::require_supported(layer.weights);
      const integer::RowQuantizer check(layer.acts, integer::kScalarKernels);
    } catch (const Error& error) {
      fail(error.code(), "layer '", layer.name, "': ", error.what());
    }
  }
}

std::unique_ptr<reason::Reasoner> make_cpu_reasoner(const store::Checkpoint& checkpoint,
                                                    const CpuOptions& options) {
  store::require_complete(checkpoint.config, checkpoint.tensors, "checkpoint");
  if (options.plan == nullptr || options.plan->is_float())
    return build_reasoner(checkpoint.config, checkpoint.tensors, {}, {}, options);
  if (options.accumulator != nullptr) {
    const IntegerLayers integers = integer_layers(*options.plan, *options.accumulator);
    const PlannedModel bare = plan_model(checkpoint, without_quantizers(*options.plan));
    return build_reasoner(checkpoint.config, bare.tensors, bare, integers, options);
  }
  const PlannedModel planned = plan_model(checkpoint, *options.plan);
  return build_reasoner(checkpoint.config, planned.tensors, planned, {}, options);
}

std::unique_ptr<reason::Reasoner> make_cpu_reasoner(const store::PackedModel& packed,
                                                    const CpuOptions& options) {
  const PlannedModel planned = planned_from(packed);
  return build_reasoner(packed.config, planned.tensors, planned, {}, options);
}

int64_t step_flops(const model::ModelConfig& config) {
  const int64_t rows = model::positions_count(config);
  const int64_t width = config.hidden_size;
  // A SwiGLU of width w and inner width i has 3 w i weights.
  const int64_t channel = 3 * rows * width * model::swiglu_inner(width, config.expansion);
  const int64_t mixer = config.mixer == model::Mixer::Tokens
                            ? 3 * width * rows * model::swiglu_inner(rows, config.expansion)
                            : 4 * rows * width * width + 2 * rows * rows * width;
  const std::vector<model::Network> networks = model::networks(config);
  int64_t blocks = 0;
  for (const model::NetworkCall& call : model::schedule(config))
    blocks += networks[static_cast<size_t>(call.network)].num_layers;
  const int64_t heads = config.seq_len * config.vocab_size * width;
  return 2 * (blocks * (channel + mixer) + heads);
}

}  // namespace driftless::simulate
