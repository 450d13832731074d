// SPDX-License-Identifier: Apache-2.0
#include "driftless/model/schedule.h"

namespace driftless::model {

std::vector<NetworkCall> schedule(const ModelConfig& config) {
  const bool is_untied = config.arch == Arch::TrmUntied;
  const int64_t h_network = is_untied ? config.l_cycles : config.arch == Arch::Hrm ? 1 : 0;
  std::vector<NetworkCall> calls;
  for (int64_t round = 0; round < config.h_cycles; ++round) {
    const bool is_last_round = round == config.h_cycles - 1;
    for (int64_t cycle = 0; cycle < config.l_cycles; ++cycle) {
      const bool is_last_call = cycle == config.l_cycles - 1;
      calls.push_back(
          {.network = is_untied ? cycle : 0,
           .updates = State::L,
           .injection = Injection::AnswerAndInput,
           .has_gradient = is_last_round && (config.arch != Arch::Hrm || is_last_call)});
    }
    calls.push_back({.network = h_network,
                     .updates = State::H,
                     .injection = Injection::Scratch,
                     .has_gradient = is_last_round});
  }
  return calls;
}

}  // namespace driftless::model
