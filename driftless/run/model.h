// SPDX-License-Identifier: Apache-2.0
// What a model asks of boards: its task, and that they fit.
#pragma once

#include <span>
#include <string>

#include "driftless/store/model_file.h"
#include "driftless/task/table.h"

namespace driftless::run {

/// The checkpoint of a model file. Throws InvalidArgument for a packed model; `where` names it.
store::Checkpoint require_float(store::ModelFile model, const std::string& where);

/// The task that the model was trained for.
const task::Task& task_of(const store::Checkpoint& checkpoint);

/// Throws BadFile when the boards have another number of cells than the model or name a row that
/// its puzzle table does not have.
void require_fits(const store::Checkpoint& checkpoint, std::span<const task::Example> examples,
                  const std::string& where);

}  // namespace driftless::run
