// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/terminal/watch.h"

#include <memory>

#include "driftless/cli/terminal/interrupt.h"
#include "driftless/cli/terminal/progress.h"

namespace driftless::cli {
namespace {

std::string of_boards(int64_t done, int64_t total) {
  return std::to_string(done) + " of " + std::to_string(total) + " boards";
}

}  // namespace

reason::OnBoard watch_calibration(int64_t boards) {
  auto line = std::make_shared<Progress>("calibrating", boards);
  return [line, boards](int64_t done) {
    if (was_interrupted())
      throw Interrupted("interrupted while calibrating, after " + of_boards(done, boards) +
                        "; nothing was written");
    line->show(done, "");
  };
}

std::function<void(int64_t, const task::Score&)> watch_evaluation(int64_t total,
                                                                  const std::string& scheme) {
  auto line = std::make_shared<Progress>("evaluating", total);
  return [line, total, scheme](int64_t done, const task::Score& score) {
    const std::string exact = std::to_string(score.exact.hits) + " exact";
    if (was_interrupted())
      throw Interrupted("interrupted after " + of_boards(done, total) + " (" + exact +
                        "); nothing was written");
    line->show(done, exact + "  " + scheme);
  };
}

std::function<void(const study::StudyProgress&)> watch_study(const std::string& name) {
  auto line = std::make_shared<Progress>(name);
  return [line](const study::StudyProgress& progress) {
    line->set_total(progress.total);
    line->show(progress.done, progress.rows);
  };
}

}  // namespace driftless::cli
