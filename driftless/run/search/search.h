// SPDX-License-Identifier: Apache-2.0
// Packing a model into a number of bits without knowing how: changes are tried one after another
// on what the ones before them left, and kept where the model comes nearer to the float one on
// boards that no change has seen. First come changes of the whole model, then wider formats where
// bits are left, then layers, one by one, until a round over all of them keeps nothing. No answers
// are needed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "driftless/run/rounding.h"
#include "driftless/study/record/row.h"

namespace driftless::run {

/// A change and what it came to.
struct Tried {
  std::string change;  ///< "mxint4", "clip", "LAYER: acts mxint4"
  double error = 0;    ///< mean over boards of |z - float z| / |float z|
  bool is_kept = false;
  bool is_whole = false;  ///< of the whole model
  std::string skipped{};  ///< why it has no error
};

/// Who follows a search; either may be empty. An exception of theirs ends it.
struct SearchWatch {
  std::function<void(const Tried& tried)> tried{};
  std::function<void(const std::string& phase, int64_t done, int64_t total)> progress{};
};

/// Boards that changes are judged on, and as many that decide in the end whether changes of layers
/// are kept at all: the usual number for calibration in all, or what a smaller file has.
inline constexpr int64_t kJudgingBoards = 96;
/// Of these, the first ones; changes of a layer that are clearly worse on them are given up on.
inline constexpr int64_t kFirstBoards = 16;
/// Supervision steps that each board makes, each from the float model's states. Steps in a row put
/// formats in another order than solved boards do (docs/results/delta.md).
inline constexpr int64_t kJudgingSteps = 3;
/// Boards behind second moments, unless calibration asks for another number.
inline constexpr int64_t kSearchMomentBoards = 8;

struct SearchRequest {
  double bits = 0;                  ///< see element_bits()
  SchemeText scheme{};              ///< without quantizers
  BackendOptions backend{};         ///< packed for it, and judged on it
  std::string model_sha256{};       ///< of the checkpoint's file
  std::filesystem::path journal{};  ///< see Journal
};

struct Found {
  store::PackedModel packed;  ///< its `method` says what was kept
  study::PlanBits bits{};     ///< see mean_bits()
};

/// Throws what Packer, planned_scheme, make_reasoner and Journal throw, and what the first change
/// is skipped for where no format runs.
Found search_bits(const store::Checkpoint& checkpoint, const SearchRequest& request,
                  const SearchWatch& watch);

}  // namespace driftless::run
