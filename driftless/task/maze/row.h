// SPDX-License-Identifier: Apache-2.0
// Maze as a row of the task table.
#pragma once

#include "driftless/task/task.h"

namespace driftless::task::maze {

Task row();

}  // namespace driftless::task::maze
