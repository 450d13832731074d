// SPDX-License-Identifier: Apache-2.0
// Sudoku as a row of the task table.
#pragma once

#include "driftless/task/task.h"

namespace driftless::task::sudoku {

Task row();

}  // namespace driftless::task::sudoku
