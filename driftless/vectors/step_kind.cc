// SPDX-License-Identifier: Apache-2.0
// Cases of whole supervision steps on the native engine: a hash after each of what the model holds.
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/sha256.h"
#include "driftless/base/text/text.h"
#include "driftless/reason/readout.h"
#include "driftless/vectors/hex.h"
#include "driftless/vectors/kinds.h"

namespace driftless::vectors {
namespace {

constexpr int64_t kMostSteps = 1000;

void make_step(const Amount& amount, const Engine& engine, Rng& rng, const FieldSink& sink) {
  for (const EngineModel& model : engine.models) {
    const model::ModelConfig& config = model.reasoner->config();
    for (int64_t board = 0; board < amount.boards; ++board) {
      std::vector<uint8_t> tokens;
      for (int64_t cell = 0; cell < config.seq_len; ++cell)
        tokens.push_back(static_cast<uint8_t>(rng.below(static_cast<uint64_t>(config.vocab_size))));
      sink(model.name + " " + model.sha256 + " " + std::to_string(amount.steps) + " " +
           hex_of_bytes(tokens));
    }
  }
}

/// Of z_H, z_L, the logits and the halt logit, each float32 with its lowest byte first.
std::string hash_of(const reason::Reasoner& reasoner) {
  const reason::States states = reasoner.states(0);
  const reason::Readout readout = reasoner.read(0);
  Sha256 hash;
  for (const std::span<const float> values :
       {states.h, states.l, readout.logits, std::span<const float>(&readout.halt_logit, 1)})
    hash.add(std::as_bytes(values));
  return hash.hex();
}

std::string answer_step(Fields fields, const Engine& engine) {
  reason::Reasoner& reasoner = model_of(engine, fields[0], fields[1]);
  const int64_t steps = parse_int(fields[2]).value_or(0);
  DRIFTLESS_REQUIRE(steps >= 1 && steps <= kMostSteps, ErrorCode::BadFile, "got '", fields[2],
                    "' steps, expected 1 to ", kMostSteps);
  const std::vector<uint8_t> tokens = bytes_of_hex(fields[3], reasoner.config().seq_len);
  reasoner.reset(0, {.tokens = tokens});
  std::string text;
  constexpr int64_t kSlot = 0;
  for (int64_t step = 0; step < steps; ++step) {
    reasoner.step({&kSlot, 1});
    text += hash_of(reasoner) + " ";
  }
  return text + hex_of_bytes(reason::answer_of(reasoner.read(kSlot), reasoner.config().vocab_size));
}

}  // namespace

const Kind kStep = {"step", 4, make_step, answer_step};

}  // namespace driftless::vectors
