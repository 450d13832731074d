// SPDX-License-Identifier: Apache-2.0
// Packing a model into a number of bits without knowing how: changes are tried one after another
// on what the ones before them left, and kept where the model comes nearer to the float one on
// boards that no change has seen. No answers are needed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "driftless/run/rounding.h"

namespace driftless::run {

/// A change and what it came to.
struct Tried {
  std::string change;  ///< "scale=e5m3", "clip", "gptq"
  std::string scheme;  ///< the plan in one line
  double error = 0;    ///< mean over boards of |z - float z| / |float z|
  bool is_kept = false;
};
using OnTried = std::function<void(const Tried& tried)>;

/// Boards that changes are judged on, and supervision steps that each of them makes: enough for
/// errors to have gone around the loop, few enough for trajectories not to have parted.
inline constexpr int64_t kJudgingBoards = 32;
inline constexpr int64_t kJudgingSteps = 2;
/// Boards behind second moments, unless calibration asks for another number.
inline constexpr int64_t kSearchMomentBoards = 8;

/// The widest integers whose blocks of 32 with 8-bit scales take at most that many bits a value.
/// Throws InvalidArgument below 2.25 bits, and where the native engine has no such blocks: at 5.25
/// or more.
int element_bits(double bits);

/// The model at `bits` on both sides, packed for `backend`, which runs it to judge. Its `method`
/// says what was kept. Throws what pack() and make_reasoner() throw.
store::PackedModel search_bits(const store::Checkpoint& checkpoint, double bits,
                               const SchemeText& scheme, const BackendOptions& backend,
                               const OnTried& on_tried);

}  // namespace driftless::run
