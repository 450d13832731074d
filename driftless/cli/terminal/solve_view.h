// SPDX-License-Identifier: Apache-2.0
// One board on the screen while a model works on it.
#pragma once

#include <functional>
#include <memory>
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
  std::string title;  ///< a line above the board; may be empty
};

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
