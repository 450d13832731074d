// SPDX-License-Identifier: Apache-2.0
// One board on the screen while a model works on it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "driftless/cli/terminal/terminal.h"
#include "driftless/reason/run.h"
#include "driftless/task/table.h"

namespace driftless::cli {

class SolveView {
 public:
  virtual ~SolveView() = default;
  virtual void step(const reason::Answer& answer) = 0;
  virtual void done(const reason::Answer& answer) = 0;
};

/// What a view shows; the example must outlive it.
struct Subject {
  const task::Task& task;
  const task::Example& example;
  int64_t max_steps;
  std::string title = {};   ///< a line above the board; may be empty
  std::string scheme = {};  ///< that it runs under, for records; may be empty
  /// How long a step stays on the screen; absent: as long as the eye needs where it is redrawn.
  std::optional<std::chrono::milliseconds> delay = {};
};

/// Whether the board's answer is known.
bool has_label(const task::Example& example);

/// Whether the answer is right; one that is not the label may be.
bool is_solved(const Subject& subject, const reason::Answer& answer);

int64_t changed_cells(std::span<const uint8_t> before, std::span<const uint8_t> now);

/// How much each step changed, one bar a step, as high as its share of the largest change.
std::string bars(std::span<const int64_t> changes);

/// "solved in 3 steps" or why not.
std::string verdict(const Subject& subject, const reason::Answer& answer);

/// Hands one line with a JSON object to `sink` when the board is done.
std::unique_ptr<SolveView> make_json_view(const Subject& subject,
                                          std::function<void(const std::string& line)> sink);

/// A picture that is redrawn in place where the terminal is live and large enough, in color where
/// it has UTF-8 and color is wanted; elsewhere a line per step and the board at the end.
std::unique_ptr<SolveView> make_text_view(const Subject& subject, const Terminal& terminal,
                                          Ink ink);

}  // namespace driftless::cli
