// SPDX-License-Identifier: Apache-2.0
// Random orders from the project's own generator: std::shuffle differs between standard libraries.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "driftless/base/rng.h"

namespace driftless {

/// Puts the items into an order drawn uniformly from all orders (Fisher and Yates, from the back).
template <class Item, size_t kExtent>
void shuffle(std::span<Item, kExtent> items, Rng& rng) {
  for (size_t left = items.size(); left > 1; --left)
    std::swap(items[left - 1], items[static_cast<size_t>(rng.below(left))]);
}

}  // namespace driftless
