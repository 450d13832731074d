// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/text/quote.h"

#include <gtest/gtest.h>

namespace driftless {
namespace {

TEST(Quote, KeepsPrintableTextAndEscapesTheRest) {
  EXPECT_EQ(quote("L_level.layers.0"), "'L_level.layers.0'");
  EXPECT_EQ(quote(""), "''");
  EXPECT_EQ(quote("a\nb\x1b[0m"), "'a\\x0ab\\x1b[0m'");
  EXPECT_EQ(quote(std::string_view("\0\xff", 2)), "'\\x00\\xff'");
}

TEST(Quote, CutsLongText) {
  EXPECT_EQ(quote(std::string(80, 'x')), "'" + std::string(80, 'x') + "'");
  EXPECT_EQ(quote(std::string(81, 'x')), "'" + std::string(80, 'x') + "...'");
}

}  // namespace
}  // namespace driftless
