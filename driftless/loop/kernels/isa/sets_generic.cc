// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "driftless/loop/kernels/isa/sets.h"

namespace driftless::loop {

std::span<const EpilogueSet* const> available_epilogues() {
  static constexpr std::array kSets = {&kPortableEpilogues};
  return kSets;
}

}  // namespace driftless::loop
