// SPDX-License-Identifier: Apache-2.0
// What the globals of a pickle stand for: the fixed table of allowed ones, and the structs that
// "calling" them makes.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "driftless/store/torch/pickle.h"

namespace driftless::store {

/// The row of the table for MODULE.NAME. Throws Unsupported naming an unknown one.
PickleGlobal find_global(std::string_view module, std::string_view name, std::string_view where);

/// What the call of a global with a tuple of arguments yields. Throws BadFile where the arguments
/// do not fit, Unsupported where the global cannot be called.
PickleValue call_global(const Pickle& pickle, PickleGlobal global, const PickleTuple& arguments,
                        std::string_view where);

/// The storage that a persistent id describes: ('storage', type, key, location, element count).
PickleStorage storage_of(const Pickle& pickle, const PickleTuple& id, std::string_view where);

}  // namespace driftless::store
