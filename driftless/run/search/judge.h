// SPDX-License-Identifier: Apache-2.0
// How far a step of a packed model ends from where the float model's step ends, both from the same
// states, and when a change of the packed model counts as an improvement.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "driftless/run/backend.h"

namespace driftless::run {

/// What a change came to: |z - float z| / |float z| of each board, the mean over its steps, or why
/// it has none.
struct Judged {
  std::vector<double> errors{};
  std::string skipped{};

  [[nodiscard]] double mean() const;
};

/// Errors of the same boards before a change less those after it.
struct Gain {
  double mean = 0;
  double standard_error = 0;  ///< of the mean, over boards

  [[nodiscard]] bool is_clear() const { return mean > standard_error; }
};
/// Of the boards that both have.
Gain gain(const Judged& before, const Judged& after);

class Judge {
 public:
  /// The float model's states on the boards, which are looked at for as long as the judge lives, on
  /// what simulates the backend.
  Judge(const store::Checkpoint& checkpoint, std::span<const reason::Board> boards,
        const BackendOptions& backend);

  using Pack = std::function<store::PackedModel()>;
  /// Skipped where the model cannot be packed or run, or a value is not finite. After kFirstBoards
  /// it is given up on where it is clearly worse `than` something.
  [[nodiscard]] Judged judge(const Pack& pack, const Judged* than = nullptr) const;

 private:
  /// After each step, those at the start first.
  struct States {
    std::vector<float> h, l;
  };
  using Trajectory = std::vector<States>;

  void add_errors(reason::Reasoner& reasoner, size_t boards, Judged& judged) const;

  std::span<const reason::Board> boards_;
  BackendOptions backend_;
  std::vector<Trajectory> exact_;
};

}  // namespace driftless::run
