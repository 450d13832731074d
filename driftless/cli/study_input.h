// SPDX-License-Identifier: Apache-2.0
// The files of a study as the command line names them.
#pragma once

#include "driftless/run/study/study_files.h"

namespace driftless::cli {

/// Throws what load_float_model and reading the other files throw.
run::StudyFiles open_study(const run::StudyOptions& options);

}  // namespace driftless::cli
