// SPDX-License-Identifier: Apache-2.0
// EXPECT_ERROR(statement, code, word): the statement throws Error with that code and a message that
// contains the word.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "driftless/base/error.h"

namespace driftless::testing {

template <class Call>
void expect_error(Call call, ErrorCode code, const std::string& word) {
  try {
    call();
    ADD_FAILURE() << "no error; expected one with '" << word << "'";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

}  // namespace driftless::testing

#define EXPECT_ERROR(statement, code, word) \
  ::driftless::testing::expect_error([&] { statement; }, (code), (word))
