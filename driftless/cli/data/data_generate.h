// SPDX-License-Identifier: Apache-2.0
// driftless data generate: boards of our own, of every task that has a generator.
#pragma once

#include "driftless/cli/command.h"

namespace driftless::cli {

void add_generate(const Verb& verb);

}  // namespace driftless::cli
