// SPDX-License-Identifier: Apache-2.0
// One seed from several numbers, so that every random choice of a study has a generator of its own
// and no choice depends on the order of the others.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "driftless/base/rng.h"

namespace driftless::study {

inline uint64_t mix_seeds(std::initializer_list<uint64_t> parts) {
  uint64_t mixed = 0;
  for (const uint64_t part : parts) mixed = Rng(mixed ^ part).next();
  return mixed;
}

}  // namespace driftless::study
