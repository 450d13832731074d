// SPDX-License-Identifier: Apache-2.0
// From a recipe to its boards: files of the task and generated ones, the boards held out for
// evaluation, and whether the two are disjoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/lab/data/batches.h"
#include "driftless/lab/recipe/recipe.h"
#include "driftless/task/table.h"

namespace driftless::lab {

/// Gives the model's puzzle table the rows of the data-set folders that the recipe names, and
/// returns their names; none without such a folder or without prefix rows. Throws BadConfig when
/// two folders have different rows.
std::vector<std::string> fit_puzzle_table(Recipe& recipe, const std::filesystem::path& data);

/// The boards that evaluate the run, at most eval_boards: the first ones of a file, of a data-set
/// folder's test split so many at equal distances. Generated ones are all different up to symmetry.
/// Throws BadFile on a file of another task and BadConfig on boards of another size than
/// the model's.
std::vector<task::Example> read_held_out(const Recipe& recipe, const std::filesystem::path& data);

/// The boards that train the run; `talk` gets a line about each part. Generated boards that a
/// symmetry turns into one of `held_out` are left out; files are taken as they are. Throws as
/// read_held_out.
BoardPool read_pool(const Recipe& recipe, const std::filesystem::path& data,
                    std::span<const task::Example> held_out,
                    const std::function<void(std::string_view line)>& talk);

/// Boards of the pool that a symmetry turns into one of `held_out`: 0 for an honest evaluation.
/// About 0.2 ms a board.
int64_t count_equivalent(const task::Task& task, std::span<const task::Example> pool,
                         std::span<const task::Example> held_out);

/// How many boards of each file of the pool are equivalent to one of the evaluation file, all of
/// it. Throws BadConfig, after `talk` had every file's count, unless all are 0.
void require_disjoint(const Recipe& recipe, const std::filesystem::path& data,
                      const std::function<void(std::string_view line)>& talk);

}  // namespace driftless::lab
