// SPDX-License-Identifier: Apache-2.0
// Configurations name tasks that model/ knows nothing of: the names of the presets are rows.
#include <gtest/gtest.h>

#include "driftless/model/presets.h"
#include "driftless/task/table.h"

namespace driftless {
namespace {

TEST(TaskNames, PublishedBoardsAreThoseOfTheTable) {
  for (const model::PublishedBoards& boards : model::published_boards()) {
    const task::Task& task = task::find_task(boards.task);
    EXPECT_EQ(task.vocab_size(), boards.vocab_size) << boards.task;
    EXPECT_EQ(task.seq_len, boards.cells) << boards.task;
  }
}

TEST(TaskNames, PresetsNameRows) {
  for (const model::Preset& preset : model::presets()) {
    const task::Task& task = task::find_task(preset.config.task);
    EXPECT_EQ(task.vocab_size(), preset.config.vocab_size) << preset.name;
    EXPECT_EQ(task.seq_len, preset.config.seq_len) << preset.name;
  }
}

}  // namespace
}  // namespace driftless
