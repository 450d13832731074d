// SPDX-License-Identifier: Apache-2.0
// The sets that were compiled, whether or not this processor can run them.
#pragma once

#include "driftless/loop/kernels/epilogues.h"

namespace driftless::loop {

extern const EpilogueSet kAvx512Epilogues;
extern const EpilogueSet kAvx2Epilogues;
extern const EpilogueSet kPortableEpilogues;

}  // namespace driftless::loop
