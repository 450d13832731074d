// SPDX-License-Identifier: Apache-2.0
// Checks the code and a word of the message of the Error that a call throws.
#pragma once

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "driftless/base/error.h"

namespace driftless::testing {

/// Expects `call` to throw Error with `code` and a message that contains `word`.
template <class Call>
void expect_error(ErrorCode code, const std::string& word, Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
        << "'" << word << "' is not in: " << error.what();
    return;
  }
  ADD_FAILURE() << "no error; expected one that says '" << word << "'";
}

}  // namespace driftless::testing
