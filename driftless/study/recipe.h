// SPDX-License-Identifier: Apache-2.0
// A study as data, read from TOML:
//
//   [study]
//   name = "granularity"            names the records
//
//   [defaults]                      keys of every row below
//   weights = "int4/tensor"
//   steps = 16
//
//   [[rows]]                        a list makes a row of each entry; several make all combinations
//   acts = ["int4/tensor/dynamic", "int4/token", "int4/group32"]
//   l_cycles = [2, 4, 6]
//
// Row keys: both (weights and acts alike), weights, acts, coverage, bias, scales, smooth, hadamard,
// delta, attention, h_cycles, l_cycles, steps, calibration_boards, calibration_seed, rollouts,
// noise, noise_seed, coherence, layer_boards, dynamics.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/study/record/row.h"

namespace driftless::study {

struct StudyRecipe {
  std::string name;
  std::vector<Row> rows;
};

/// Throws BadConfig with the line and, for an unknown key, the nearest valid one.
StudyRecipe parse_recipe(std::string_view text, std::string_view where);

/// Throws Io as well.
StudyRecipe load_recipe(const std::filesystem::path& path);

/// Sets a key of every row, from "key=value" as a recipe would say it (texts without quotes).
/// Throws BadConfig.
void override_rows(StudyRecipe& recipe, std::string_view key_and_value);

/// The rows for one model, resolved; of equal ones the first (a dynamic scheme has no calibration
/// seeds to tell apart).
std::vector<Row> rows_for(const StudyRecipe& recipe, const model::ModelConfig& config);

}  // namespace driftless::study
