// SPDX-License-Identifier: Apache-2.0
#include "driftless/loop/kernels/epilogues.h"

namespace driftless::loop {

const EpilogueSet& epilogues() { return *available_epilogues().front(); }

}  // namespace driftless::loop
