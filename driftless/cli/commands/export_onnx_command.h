// SPDX-License-Identifier: Apache-2.0
// The verb below export that writes graphs.
#pragma once

#include "driftless/cli/flags/flags.h"

namespace driftless::cli {

void add_export_onnx_command(const Verb& verb);

}  // namespace driftless::cli
