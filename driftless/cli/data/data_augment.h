// SPDX-License-Identifier: Apache-2.0
// driftless data augment: ARC tasks and their variants as a data-set folder to train on.
#pragma once

#include "driftless/cli/command.h"

namespace driftless::cli {

void add_augment(const Verb& verb);

}  // namespace driftless::cli
