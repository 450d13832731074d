// SPDX-License-Identifier: Apache-2.0
// What stands behind the handle of boards.
#pragma once

#include <vector>

#include "driftless/task/table.h"

struct driftless_boards {  // NOLINT(readability-identifier-naming): the name of the C interface
  const driftless::task::Task& task;
  std::vector<driftless::task::Example> examples;
};
