// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/text/one_line.h"

#include <gtest/gtest.h>

namespace driftless {
namespace {

TEST(OneLine, EscapesControlCharactersAndKeepsOtherLetters) {
  EXPECT_EQ(one_line("a\x1b[2Jb\nc\x7f"), "a\\x1b[2Jb\\x0ac\\x7f");
  EXPECT_EQ(one_line("caf\xc3\xa9 5\xc2\xb0"), "caf\xc3\xa9 5\xc2\xb0");
  EXPECT_EQ(one_line("\xc2\x9b"
                     "2J"),
            "\\xc2\x9b"
            "2J");
}

TEST(OneLine, FitsAScreen) {
  const std::string shown = one_line(std::string(100000, 'x') + "end");
  EXPECT_LE(shown.size(), 24u * 80u);
  EXPECT_TRUE(shown.ends_with("xend"));
}

}  // namespace
}  // namespace driftless
