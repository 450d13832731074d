// SPDX-License-Identifier: Apache-2.0
// Wrong-input tests: the class of the error and a word of its message.
#pragma once

#include <string_view>

#include <gtest/gtest.h>

#include "driftless/base/error.h"

namespace driftless::testing {

/// The action throws Error with that code and a message that contains the word.
template <class Action>
void expect_error(ErrorCode code, std::string_view word, Action&& action) {
  try {
    action();
    ADD_FAILURE() << "no error; expected one with '" << word << "'";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string_view(error.what()).find(word), std::string_view::npos)
        << "'" << word << "' is not in: " << error.what();
  }
}

}  // namespace driftless::testing

/// The same for a single statement.
#define EXPECT_ERROR(statement, code, word) \
  ::driftless::testing::expect_error((code), (word), [&] { statement; })
