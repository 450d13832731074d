// SPDX-License-Identifier: Apache-2.0
// ARC as rows of the task table: the canvas of 30 x 30 cells, and Mini-ARC's of 5 x 5.
#pragma once

#include "driftless/task/task.h"

namespace driftless::task::arc {

Task row();
Task mini_row();

}  // namespace driftless::task::arc
