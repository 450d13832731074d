// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/study_input.h"

#include "driftless/cli/model_input.h"

namespace driftless::cli {

run::StudyFiles open_study(const run::StudyOptions& options) {
  return {options, load_float_model(run::float_model_file(options))};
}

}  // namespace driftless::cli
