// SPDX-License-Identifier: Apache-2.0
#include "web/engine/session.h"

#include <utility>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/quant/plan/plan.h"
#include "driftless/reason/halting.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/reason/readout.h"
#include "driftless/simulate/cpu_reasoner.h"
#include "driftless/store/checkpoint.h"
#include "driftless/store/packed_model.h"

namespace driftless::web {
namespace {

constexpr const char* kFloat = "none";
constexpr int64_t kOneBoard = 1;

/// A packed model as the checkpoint that its codes stand for.
store::Checkpoint unpacked(const store::PackedModel& packed) {
  store::Checkpoint checkpoint{packed.config, packed.tensors, {}};
  for (const auto& [name, weight] : packed.weights) {
    const quant::LayerPlan* const plan = packed.plan.find(name);
    DRIFTLESS_REQUIRE(weight.factors.empty() && (plan == nullptr || !plan->hadamard),
                      ErrorCode::Unsupported, "model: layer ", quote(name),
                      " is packed smoothed or rotated and runs by its own plan only; use the "
                      "float checkpoint for other formats");
    checkpoint.tensors.emplace(name, store::decoded(weight));
  }
  return checkpoint;
}

quant::QuantPlan plan_of(const Choice& choice, const model::ModelConfig& config) {
  const quant::Scheme scheme{.weights = quant::parse_quant_spec(choice.weights),
                             .acts = quant::parse_quant_spec(choice.activations),
                             .coverage = choice.coverage,
                             .attention = choice.attention};
  if (scheme.weights.is_none() && scheme.acts.is_none() &&
      scheme.attention == quant::AttentionPrecision::Float)
    return {};
  return quant::resolve(scheme, reason::linear_layers(config));
}

/// Null where the plan cannot run on integers.
std::unique_ptr<reason::Reasoner> try_native(const store::PackedModel& packed) {
  try {
    return native::make_native_reasoner(packed, {.slots = kOneBoard});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Unsupported) throw;
    return nullptr;
  }
}

/// The same for what is packed first; weights that have no integer codes are refused there.
std::unique_ptr<reason::Reasoner> try_native(const store::Checkpoint& checkpoint,
                                             const quant::QuantPlan& plan) {
  try {
    return try_native(store::pack_model(checkpoint, native::with_windows(plan)));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Unsupported) throw;
    return nullptr;
  }
}

bool keeps_file(const Choice& choice) {
  return choice.weights.empty() && choice.activations.empty();
}

}  // namespace

Session::Session(std::vector<std::byte> bytes, const Choice& choice) {
  const store::Safetensors file(std::move(bytes), "model");
  const bool is_packed = file.metadata().contains("packed");
  if (is_packed && keeps_file(choice)) {
    const store::PackedModel packed = store::parse_packed(file);
    if (!choice.is_simulated) reasoner_ = try_native(packed);
    is_native_ = reasoner_ != nullptr;
    if (!is_native_) reasoner_ = simulate::make_cpu_reasoner(packed, {.slots = kOneBoard});
    scheme_ = describe(packed.plan, reason::linear_layers(packed.config));
    return;
  }
  const store::Checkpoint checkpoint =
      is_packed ? unpacked(store::parse_packed(file)) : store::parse_checkpoint(file);
  Choice asked = choice;
  if (keeps_file(choice)) asked.weights = asked.activations = kFloat;
  const quant::QuantPlan plan = plan_of(asked, checkpoint.config);
  const bool is_float = plan.is_float();
  scheme_ = is_float ? "float32" : describe(plan, reason::linear_layers(checkpoint.config));
  if (!is_float && !choice.is_simulated) reasoner_ = try_native(checkpoint, plan);
  is_native_ = reasoner_ != nullptr;
  if (!is_native_)
    reasoner_ = simulate::make_cpu_reasoner(
        checkpoint, {.slots = kOneBoard, .plan = is_float ? nullptr : &plan});
}

void Session::start(std::span<const uint8_t> tokens, uint64_t seed) {
  reasoner_->reset(0, {.tokens = tokens, .seed = seed});
  steps_ = 0;
  answer_.assign(tokens.begin(), tokens.end());
}

void Session::step() {
  constexpr int64_t kSlots[] = {0};
  reasoner_->step(kSlots);
  const reason::Readout readout = reasoner_->read(0);
  reason::require_finite(readout, 0, ++steps_);
  (void)reason::take_answer(readout, answer_);
  halt_score_ = reason::halt_score(config(), readout);
}

uint64_t state_hash(const reason::States& states) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const std::span<const float> state : {states.h, states.l})
    for (const std::byte byte : std::as_bytes(state)) {
      hash ^= static_cast<uint64_t>(byte);
      hash *= 0x100000001b3u;
    }
  return hash;
}

}  // namespace driftless::web
