// SPDX-License-Identifier: Apache-2.0
#include "driftless/model/schedule.h"

namespace driftless::model {

namespace {

/// The index of the network that updates z_H; that of inner cycle `cycle` is the cycle or 0.
int64_t h_network(Tying tying, int64_t l_cycles) {
  switch (tying) {
    case Tying::All:
      return 0;
    case Tying::ByState:
      return 1;
    case Tying::ByCycle:
      return l_cycles;
  }
  return 0;
}

}  // namespace

std::vector<NetworkCall> schedule(const ModelConfig& config) {
  const Architecture& arch = architecture(config);
  std::vector<NetworkCall> calls;
  for (int64_t round = 0; round < config.h_cycles; ++round) {
    const bool is_last_round = round == config.h_cycles - 1;
    for (int64_t cycle = 0; cycle < config.l_cycles; ++cycle) {
      const bool is_followed =
          arch.gradients == Gradients::LastRound || cycle == config.l_cycles - 1;
      calls.push_back({.network = arch.tying == Tying::ByCycle ? cycle : 0,
                       .updates = State::L,
                       .injection = Injection::AnswerAndInput,
                       .after = arch.after_l,
                       .has_gradient = is_last_round && is_followed});
    }
    calls.push_back({.network = h_network(arch.tying, config.l_cycles),
                     .updates = State::H,
                     .injection = Injection::Scratch,
                     .after = arch.after_h,
                     .has_gradient = is_last_round});
  }
  return calls;
}

}  // namespace driftless::model
