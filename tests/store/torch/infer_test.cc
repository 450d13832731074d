// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/torch/infer.h"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "driftless/base/error.h"
#include "driftless/model/presets.h"
#include "driftless/model/shapes.h"

#include "tests/testing/expect_error.h"

namespace driftless::store {
namespace {

using driftless::testing::expect_error;
using model::Arch;
using model::ModelConfig;
using model::Positions;

/// Tensors with the shapes of a configuration.
TensorMap tensors_of(const ModelConfig& config) {
  TensorMap tensors;
  for (const model::ParamSpec& spec : model::parameters(config))
    tensors[spec.name] = {spec.shape,
                          std::vector<float>(static_cast<size_t>(model::element_count(spec)))};
  return tensors;
}

/// What all_config.yaml of a training run of this configuration says.
FlatConfig training_of(const ModelConfig& config) {
  const auto number = [](int64_t value) { return std::to_string(value); };
  FlatConfig flat = {{"arch.H_cycles", number(config.h_cycles)},
                     {"arch.L_cycles", number(config.l_cycles)},
                     {"arch.L_layers", number(config.num_layers)},
                     {"arch.hidden_size", number(config.hidden_size)},
                     {"arch.num_heads", number(config.num_heads)},
                     {"arch.expansion", "4"},
                     {"arch.pos_encodings", std::string(to_string(config.positions))},
                     {"arch.halt_max_steps", number(config.halt_max_steps)},
                     {"lr", "0.0001"}};
  if (config.arch == Arch::Trm) flat["arch.puzzle_emb_len"] = number(config.puzzle_emb_len);
  return flat;
}

/// Everything that a user can give.
ImportOptions options_of(const ModelConfig& config) {
  ImportOptions options;
  options.h_cycles = config.h_cycles;
  options.l_cycles = config.l_cycles;
  if (config.mixer == model::Mixer::Tokens) return options;
  options.heads = config.num_heads;
  options.positions = config.positions;
  options.prefix_rows = config.puzzle_emb_len;
  return options;
}

ModelConfig config_of(const TensorMap& tensors, const FlatConfig& training,
                      const ImportOptions& options, std::string_view where) {
  return infer_config(tensors, training, options, where).config;
}

TEST(Infer, EveryPresetFromItsTrainingConfiguration) {
  for (const model::Preset& preset : model::presets())
    EXPECT_EQ(config_of(tensors_of(preset.config), training_of(preset.config), {}, "f"),
              preset.config)
        << preset.name;
}

TEST(Infer, EveryPresetFromFlags) {
  for (const model::Preset& preset : model::presets())
    EXPECT_EQ(config_of(tensors_of(preset.config), {}, options_of(preset.config), "f"),
              preset.config)
        << preset.name;
}

TEST(Infer, WhatNoSourceTellsNamesItsFlag) {
  const ModelConfig config = model::find_preset("trm-maze").config;
  const TensorMap tensors = tensors_of(config);
  const auto expect_flag = [&](const char* flag, const ImportOptions& options) {
    expect_error(ErrorCode::BadConfig, flag, [&] { config_of(tensors, {}, options, "f"); });
    expect_error(ErrorCode::BadConfig, "f: shapes do not tell",
                 [&] { config_of(tensors, {}, options, "f"); });
  };
  const ImportOptions whole = options_of(config);
  const auto without = [&](auto member) {
    ImportOptions options = whole;
    (options.*member).reset();
    return options;
  };
  expect_flag("--heads", without(&ImportOptions::heads));
  expect_flag("--h-cycles", without(&ImportOptions::h_cycles));
  expect_flag("--l-cycles", without(&ImportOptions::l_cycles));
  expect_flag("--positions", without(&ImportOptions::positions));
  expect_flag("--prefix-rows", without(&ImportOptions::prefix_rows));
}

TEST(Infer, UnknownVocabularyNeedsTheCells) {
  ModelConfig config = model::find_preset("trm-maze").config;
  config.vocab_size = 294;
  config.seq_len = 100;
  config.task = "other";
  ImportOptions options = options_of(config);
  expect_error(ErrorCode::BadConfig, "--cells",
               [&] { config_of(tensors_of(config), {}, options, "f"); });
  options.cells = 100;
  EXPECT_EQ(config_of(tensors_of(config), {}, options, "f"), config);
}

TEST(Infer, LearnedPositionsAndUntiedCyclesComeFromShapes) {
  ModelConfig learned = model::find_preset("trm-sudoku-att").config;
  learned.positions = Positions::Learned;
  ImportOptions options = options_of(learned);
  options.positions.reset();
  options.prefix_rows.reset();
  EXPECT_EQ(config_of(tensors_of(learned), {}, options, "f"), learned);
  ModelConfig untied = model::find_preset("trm-sudoku-mlp-256").config;
  untied.arch = Arch::TrmUntied;
  untied.l_cycles = 3;
  ImportOptions cycles;
  cycles.h_cycles = 3;
  EXPECT_EQ(config_of(tensors_of(untied), {}, cycles, "f"), untied);
}

TEST(Infer, EqrTakesItsNumbersFromTraining) {
  ModelConfig config = model::find_preset("eqr-maze-unique").config;
  config.positions = Positions::Rope2d;
  config.board_width = 30;
  config.lambda = 0.9;
  config.noise_scale = 0.5;
  config.l_init_std = 8;
  FlatConfig training = training_of(config);
  training["arch.name"] = "eqr@EqRModel";
  training["arch.lambda_"] = "0.9";
  training["arch.noise_scale"] = "5.0e-01";
  training["arch.L_init_std"] = "8";
  EXPECT_EQ(config_of(tensors_of(config), training, {}, "f"), config);
  training["arch.board_width"] = "25";
  EXPECT_EQ(config_of(tensors_of(config), training, {}, "f").board_width, 25);
}

TEST(Infer, RotationsDoNotCountForATokenMixer) {
  const ModelConfig config = model::find_preset("trm-sudoku-mlp").config;
  FlatConfig training = training_of(config);
  training["arch.pos_encodings"] = "rope";
  EXPECT_EQ(config_of(tensors_of(config), training, {}, "f").positions, Positions::None);
}

TEST(Infer, ZeroPrefixLengthMeansWholeRowsOfTheTable) {
  ModelConfig config = model::find_preset("trm-maze").config;
  config.puzzle_emb_len = 1;
  FlatConfig training = training_of(config);
  training["arch.puzzle_emb_len"] = "0";
  EXPECT_EQ(config_of(tensors_of(config), training, {}, "f"), config);
}

TEST(Infer, WhatTheUserGivesWins) {
  const ModelConfig config = model::find_preset("trm-maze").config;
  ImportOptions options;
  options.heads = 4;
  options.h_cycles = 2;
  options.l_cycles = 5;
  options.steps = 32;
  options.positions = Positions::None;
  const ModelConfig got = config_of(tensors_of(config), training_of(config), options, "f");
  EXPECT_EQ(got.num_heads, 4);
  EXPECT_EQ(got.h_cycles, 2);
  EXPECT_EQ(got.l_cycles, 5);
  EXPECT_EQ(got.halt_max_steps, 32);
  EXPECT_EQ(got.positions, Positions::None);
}

TEST(Infer, ArchitectureByItsModuleName) {
  const ModelConfig hrm = model::find_preset("hrm-sudoku").config;
  FlatConfig training = training_of(hrm);
  for (const char* name : {"hrm.hrm_act_v1@HierarchicalReasoningModel_ACTV1",
                           "recursive_reasoning.hrm@HierarchicalReasoningModel_ACTV1"}) {
    training["arch.name"] = name;
    EXPECT_EQ(config_of(tensors_of(hrm), training, {}, "f"), hrm);
  }
  training["arch.name"] = "recursive_reasoning.trm_singlez@TinyRecursiveReasoningModel_ACTV1";
  expect_error(ErrorCode::Unsupported, "trm_singlez",
               [&] { config_of(tensors_of(hrm), training, {}, "f"); });
}

TEST(Infer, ContradictionsAndBadValuesAreNamed) {
  const ModelConfig config = model::find_preset("trm-maze").config;
  const TensorMap tensors = tensors_of(config);
  const auto expect_refused = [&](const char* key, const char* value, const char* word) {
    FlatConfig training = training_of(config);
    training[key] = value;
    expect_error(ErrorCode::BadConfig, word, [&] { config_of(tensors, training, {}, "f"); });
  };
  expect_refused("arch.hidden_size", "256", "arch.hidden_size contradicts the tensors; got 256");
  expect_refused("arch.L_layers", "4", "arch.L_layers contradicts");
  expect_refused("arch.H_cycles", "many", "arch.H_cycles; got 'many', expected an integer");
  expect_refused("arch.expansion", "nan", "arch.expansion; got 'nan', expected a number");
  expect_refused("arch.pos_encodings", "rop", "did you mean 'rope'?");
  expect_refused("arch.forward_dtype", "fp8", "arch.forward_dtype");
  expect_refused("arch.num_heads", "7", "num_heads does not divide");
}

TEST(Infer, CountsThatCannotBeAddedUpAreRefused) {
  const ModelConfig config = model::find_preset("trm-maze").config;
  const TensorMap tensors = tensors_of(config);
  for (const char* const rows : {"-1", "-9223372036854775808", "9223372036854775807"}) {
    FlatConfig training = training_of(config);
    training["arch.puzzle_emb_len"] = rows;
    expect_error(ErrorCode::BadConfig, std::string("arch.puzzle_emb_len; got ") + rows,
                 [&] { config_of(tensors, training, {}, "f"); });
  }
  for (const int64_t count : {INT64_MIN, INT64_MAX}) {
    ImportOptions options = options_of(config);
    options.prefix_rows = count;
    expect_error(ErrorCode::BadConfig, "f: --prefix-rows; got",
                 [&] { config_of(tensors, {}, options, "f"); });
    options.cells = count;
    expect_error(ErrorCode::BadConfig, "f: --cells; got",
                 [&] { config_of(tensors, {}, options, "f"); });
  }
}

TEST(Infer, APrefixLeavesCells) {
  const ModelConfig config = model::find_preset("trm-sudoku-mlp").config;
  ImportOptions options = options_of(config);
  options.cells = std::nullopt;
  options.prefix_rows = 97;
  expect_error(ErrorCode::BadConfig, "f: prefix rows; got 97 of 97 positions, expected fewer",
               [&] { config_of(tensors_of(config), {}, options, "f"); });
}

TEST(Infer, EverythingMissingIsSaidAtOnce) {
  const ModelConfig config = model::find_preset("trm-maze").config;
  expect_error(ErrorCode::BadConfig, "--prefix-rows, --positions, --h-cycles, --l-cycles, --heads",
               [&] { config_of(tensors_of(config), {}, {}, "f"); });
  expect_error(ErrorCode::BadConfig, "the outer cycles, the inner cycles, the attention heads",
               [&] { config_of(tensors_of(config), {}, {}, "f"); });
}

TEST(Infer, NullPositionsMeanNone) {
  ModelConfig config = model::find_preset("eqr-maze-unique").config;
  config.positions = Positions::None;
  FlatConfig training = training_of(config);
  training["arch.pos_encodings"] = "";
  EXPECT_EQ(config_of(tensors_of(config), training, {}, "f"), config);
  training.erase("arch.pos_encodings");
  expect_error(ErrorCode::BadConfig, "--positions",
               [&] { config_of(tensors_of(config), training, {}, "f"); });
}

TEST(Infer, AMissingPrefixLengthIsTheDefaultOfTheCode) {
  const ModelConfig config = model::find_preset("trm-maze").config;
  FlatConfig training = training_of(config);
  training.erase("arch.puzzle_emb_len");
  training["arch.name"] = "recursive_reasoning.trm@TinyRecursiveReasoningModel_ACTV1";
  training["data_paths.0"] = "data/maze-30x30-hard-1k";
  const Inferred inferred = infer_config(tensors_of(config), training, {}, "f");
  EXPECT_EQ(inferred.config, config);
  EXPECT_EQ(inferred.assumed,
            std::vector<std::string>{"16 prefix rows, the default (--prefix-rows)"});
  training["arch.name"] = "trm@TRMModel";
  EXPECT_EQ(config_of(tensors_of(config), training, {}, "f").puzzle_emb_len, 1);
}

TEST(Infer, ABoardSizeThatNothingTellsIsSaidToBeAssumed) {
  ModelConfig config = model::find_preset("trm-maze").config;
  FlatConfig training = training_of(config);
  const Inferred assumed = infer_config(tensors_of(config), training, {}, "f");
  EXPECT_EQ(assumed.config, config);
  ASSERT_EQ(assumed.assumed.size(), 1u);
  EXPECT_NE(assumed.assumed[0].find("900 cells"), std::string::npos);
  EXPECT_NE(assumed.assumed[0].find("--cells"), std::string::npos);

  config.seq_len = 100;
  training["data_paths.0"] = "data/v2x/maze-10x10-easy";
  const Inferred named = infer_config(tensors_of(config), training, {}, "f");
  EXPECT_EQ(named.config, config);
  EXPECT_TRUE(named.assumed.empty());
  training.erase("data_paths.0");
  ImportOptions options;
  options.cells = 100;
  const Inferred given = infer_config(tensors_of(config), training, options, "f");
  EXPECT_EQ(given.config, config);
  EXPECT_TRUE(given.assumed.empty());
}

TEST(Infer, NineDigitsMakeABoardOfNineByNine) {
  const ModelConfig config = model::find_preset("trm-sudoku-att").config;
  FlatConfig training = training_of(config);
  EXPECT_EQ(infer_config(tensors_of(config), training, {}, "f").assumed.size(), 1u);
  training["data_path"] = "data/Sudoku-Extreme-1k";
  const Inferred named = infer_config(tensors_of(config), training, {}, "f");
  EXPECT_EQ(named.config, config);
  EXPECT_TRUE(named.assumed.empty());
}

TEST(Infer, ATokenMixerTellsTheSizeOfItsBoards) {
  ModelConfig config = model::find_preset("trm-maze-mlp").config;
  config.seq_len = 100;
  FlatConfig training = training_of(config);
  EXPECT_EQ(config_of(tensors_of(config), training, {}, "f"), config);
  training.erase("arch.puzzle_emb_len");
  EXPECT_EQ(config_of(tensors_of(config), training, {}, "f"), config);
}

TEST(Infer, ArchitectureAndTaskMayBeGiven) {
  ModelConfig config = model::find_preset("trm-sudoku-mlp").config;
  config.seq_len = 16;
  config.task = "other";
  FlatConfig training = training_of(config);
  EXPECT_EQ(config_of(tensors_of(config), training, {}, "f"), config);
  ImportOptions options;
  options.task = "sudoku";
  config.task = "sudoku";
  training["arch.name"] = "my_fork.tiny@Tiny";
  expect_error(ErrorCode::Unsupported, "--arch",
               [&] { config_of(tensors_of(config), training, options, "f"); });
  options.arch = Arch::Trm;
  EXPECT_EQ(config_of(tensors_of(config), training, options, "f"), config);
}

TEST(Infer, EqrsRepositoryHasMoreOfTrmAndHrm) {
  ModelConfig trm = model::find_preset("eqr-maze-unique").config;
  trm.arch = Arch::Trm;
  trm.positions = Positions::Rope2d;
  trm.board_width = 30;
  FlatConfig training = training_of(trm);
  training["arch.name"] = "trm@TRMModel";
  training["arch.board_width"] = "";
  EXPECT_EQ(config_of(tensors_of(trm), training, {}, "f"), trm);

  ModelConfig hrm = model::find_preset("hrm-sudoku").config;
  hrm.mixer = model::Mixer::Tokens;
  hrm.positions = Positions::None;
  hrm.puzzle_emb_len = 16;
  training = training_of(hrm);
  training["arch.name"] = "hrm@HRMModel";
  training["arch.puzzle_emb_len"] = "16";
  EXPECT_EQ(config_of(tensors_of(hrm), training, {}, "f"), hrm);

  training = training_of(trm);
  training["arch.pos_encodings"] = "absolute";
  expect_error(ErrorCode::BadFile, "absolute_pos_embedding",
               [&] { config_of(tensors_of(trm), training, {}, "f"); });
}

TEST(Infer, HaltingSettingsAreKept) {
  ModelConfig config = model::find_preset("trm-sudoku-mlp").config;
  FlatConfig training = training_of(config);
  training["arch.no_ACT_continue"] = "true";
  EXPECT_EQ(config_of(tensors_of(config), training, {}, "f"), config);
  training["arch.no_ACT_continue"] = "false";
  training["arch.halt_threshold"] = "0.5";
  training["arch.halt_confirm_steps"] = "2";
  training["arch.halt_confirm_mode"] = "total";
  training["arch.act_inference"] = "true";
  config.halt_rule = model::HaltRule::Lead;
  config.halt_threshold = 0.5;
  config.halt_confirm_steps = 2;
  config.halt_confirm_mode = model::HaltConfirm::Cumulative;
  const Inferred inferred = infer_config(tensors_of(config), training, {}, "f");
  EXPECT_EQ(inferred.config, config);
  ASSERT_EQ(inferred.assumed.size(), 1u);
  EXPECT_NE(inferred.assumed[0].find("--halting halt"), std::string::npos);
  training["arch.disable_act_halt"] = "true";
  config.halt_rule = model::HaltRule::Never;
  EXPECT_EQ(config_of(tensors_of(config), training, {}, "f"), config);

  const ModelConfig hrm = model::find_preset("hrm-sudoku").config;
  training = training_of(hrm);
  training["arch.no_ACT_continue"] = "true";
  EXPECT_EQ(config_of(tensors_of(hrm), training, {}, "f").halt_rule, model::HaltRule::Logit);
  training["arch.no_ACT_continue"] = "maybe";
  expect_error(ErrorCode::BadConfig, "arch.no_ACT_continue; got 'maybe'",
               [&] { config_of(tensors_of(hrm), training, {}, "f"); });
}

TEST(Infer, ForeignTensorsAreRefused) {
  expect_error(ErrorCode::BadFile, "embed_tokens.embedding_weight",
               [] { config_of({}, {}, {}, "f"); });
  TensorMap flat = {{"embed_tokens.embedding_weight", {{4}, {0, 0, 0, 0}}}};
  expect_error(ErrorCode::BadFile, "not a matrix", [&] { config_of(flat, {}, {}, "f"); });
  TensorMap empty = {{"embed_tokens.embedding_weight", {{4, 0}, {}}}};
  expect_error(ErrorCode::BadFile, "not a matrix", [&] { config_of(empty, {}, {}, "f"); });
}

}  // namespace
}  // namespace driftless::store
