// SPDX-License-Identifier: Apache-2.0
#include "driftless/model/presets.h"

#include <set>

#include <gtest/gtest.h>

#include "driftless/base/error.h"
#include "driftless/model/shapes.h"

#include "tests/testing/expect_error.h"

namespace driftless::model {
namespace {

TEST(Presets, AreValidAndHaveThePublishedSize) {
  std::set<std::string_view> names;
  for (const Preset& preset : presets()) {
    EXPECT_NO_THROW(validate(preset.config, preset.name)) << preset.name;
    EXPECT_EQ(trainable_count(preset.config), preset.trainable_parameters) << preset.name;
    EXPECT_TRUE(names.insert(preset.name).second) << preset.name;
    EXPECT_EQ(&find_preset(preset.name), &preset);
  }
  EXPECT_GE(names.size(), 12u);
}

TEST(Presets, UnknownNameGetsTheNearest) {
  driftless::testing::expect_error(ErrorCode::InvalidArgument, "did you mean 'trm-maze'?",
                                   [] { find_preset("trm-mase"); });
}

}  // namespace
}  // namespace driftless::model
