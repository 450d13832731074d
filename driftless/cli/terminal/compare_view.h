// SPDX-License-Identifier: Apache-2.0
// One board on the screen while a model works on it under several schemes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driftless/cli/terminal/solve_view.h"

namespace driftless::cli {

/// Sides are counted from 0, in the order of their names.
class CompareView {
 public:
  virtual ~CompareView() = default;
  virtual void step(size_t side, const reason::Answer& answer) = 0;
  virtual void done(size_t side, const reason::Answer& answer) = 0;
};

/// Pictures side by side that are redrawn where the terminal is live and large enough; elsewhere a
/// line of counts per step and the pictures at the end. `sides` names the schemes.
std::unique_ptr<CompareView> make_compare_view(const Subject& subject,
                                               const std::vector<std::string>& sides,
                                               const Terminal& terminal, Ink ink);

}  // namespace driftless::cli
