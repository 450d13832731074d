// SPDX-License-Identifier: Apache-2.0
// Several reasoners as one, so that whoever runs boards runs one board under several schemes.
#pragma once

#include <memory>
#include <vector>

#include "driftless/reason/reasoner.h"

namespace driftless::run {

/// Slot i is the first slot of part i. Throws InvalidArgument where there is no part, or where
/// parts have other configurations than the first.
std::unique_ptr<reason::Reasoner> side_by_side(
    std::vector<std::unique_ptr<reason::Reasoner>> parts);

}  // namespace driftless::run
