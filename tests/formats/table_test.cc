// SPDX-License-Identifier: Apache-2.0
#include "driftless/formats/table.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "driftless/base/error.h"

namespace driftless::formats {
namespace {

TEST(Table, IdsAndNamesAreUnique) {
  std::set<int> ids;
  std::set<std::string_view> names;
  for (const Format& format : formats()) {
    EXPECT_TRUE(ids.insert(format.id).second) << format.name;
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_EQ(&format_by_name(format.name), &format);
  }
}

TEST(Table, StorageIncludesTheBlockScale) {
  EXPECT_EQ(bits_per_element(format_by_name("int4")), 4);
  EXPECT_EQ(bits_per_element(format_by_name("mxint4")), 4.25);
  EXPECT_EQ(bits_per_element(format_by_name("mxfp6_e2m3")), 6.25);
  EXPECT_EQ(bits_per_element(format_by_name("mxfp8_e4m3")), 8.25);
  EXPECT_EQ(bits_per_element(format_by_name("nvfp4")), 4.5);
}

TEST(Table, UnknownNameSuggestsTheNearest) {
  try {
    format_by_name("mxint44");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    EXPECT_NE(std::string(error.what()).find("did you mean 'mxint4'"), std::string::npos);
  }
}

}  // namespace
}  // namespace driftless::formats
