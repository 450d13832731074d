// SPDX-License-Identifier: Apache-2.0
#include "driftless/model/config_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/model/presets.h"

#include "tests/testing/expect_error.h"

namespace driftless::model {
namespace {

using driftless::testing::expect_error;
using Json = nlohmann::json;

constexpr std::string_view kSudoku256 =
    R"({"arch": "trm", "task": "sudoku", "vocab_size": 11, "seq_len": 81, "hidden_size": 256,)"
    R"( "expansion": 4, "num_layers": 2, "mlp_t": true, "pos_encodings": "none",)"
    R"( "puzzle_emb_len": 0, "H_cycles": 3, "L_cycles": 6, "halt_max_steps": 16,)"
    R"( "rms_norm_eps": 1e-05, "forward_dtype": "bfloat16"})";

Json preset_json(std::string_view name) {
  return Json::parse(config_to_json(find_preset(name).config));
}

TEST(ConfigJson, ReadsAPublishedConfiguration) {
  EXPECT_EQ(config_from_json(kSudoku256, ""), find_preset("trm-sudoku-mlp-256").config);
  // Written back it has the same keys and values.
  EXPECT_EQ(preset_json("trm-sudoku-mlp-256"), Json::parse(kSudoku256));
}

TEST(ConfigJson, EveryPresetRoundTrips) {
  for (const Preset& preset : presets())
    EXPECT_EQ(config_from_json(config_to_json(preset.config), preset.name), preset.config)
        << preset.name;
}

TEST(ConfigJson, HaltingIsWrittenWhereItIsNotTheDefault) {
  ModelConfig config = find_preset("trm-sudoku-att").config;
  EXPECT_EQ(config_to_json(config).find("\"halt_rule\""), std::string::npos);
  EXPECT_EQ(config_to_json(config).find("halt_threshold"), std::string::npos);
  config.halt_rule = HaltRule::Lead;
  config.halt_threshold = -0.5;
  config.halt_confirm_steps = 2;
  config.halt_confirm_mode = HaltConfirm::Cumulative;
  EXPECT_EQ(config_from_json(config_to_json(config), ""), config);
  EXPECT_EQ(halt_rule(config), HaltRule::Lead);
  EXPECT_EQ(halt_rule(find_preset("hrm-sudoku").config), HaltRule::Lead);
  EXPECT_EQ(halt_rule(find_preset("eqr-sudoku").config), HaltRule::Logit);
}

TEST(ConfigJson, UntiedAndRope2dRoundTrip) {
  ModelConfig untied = find_preset("trm-sudoku-mlp").config;
  untied.arch = Arch::TrmUntied;
  EXPECT_EQ(config_from_json(config_to_json(untied), ""), untied);
  ModelConfig rope2d = find_preset("eqr-maze-unique").config;
  rope2d.positions = Positions::Rope2d;
  rope2d.board_width = 30;
  rope2d.l_init_std = 8;
  EXPECT_EQ(config_from_json(config_to_json(rope2d), ""), rope2d);
}

TEST(ConfigJson, UnknownKeyNamesTheNearest) {
  Json json = preset_json("trm-maze");
  json["H_cycle"] = 3;
  expect_error(ErrorCode::BadConfig,
               "m.safetensors: unknown key 'H_cycle'; did you mean 'H_cycles'?",
               [&] { config_from_json(json.dump(), "m.safetensors"); });
}

TEST(ConfigJson, EveryWrittenKeyWithoutDefaultIsRequired) {
  const std::vector<std::string> optional = {"halt_max_steps", "rms_norm_eps", "rope_theta",
                                             "forward_dtype"};
  for (const char* name : {"trm-maze", "hrm-sudoku", "eqr-sudoku"}) {
    const Json whole = preset_json(name);
    for (const auto& [key, value] : whole.items()) {
      Json json = whole;
      json.erase(key);
      if (std::find(optional.begin(), optional.end(), key) != optional.end())
        EXPECT_NO_THROW(config_from_json(json.dump(), "")) << key;
      else
        EXPECT_THROW(config_from_json(json.dump(), ""), Error) << key;
    }
  }
}

TEST(ConfigJson, StochasticTrmHasItsNoiseAndNoOtherKeyOfEqr) {
  ModelConfig config;
  config.arch = Arch::TrmStochastic;
  config.noise_scale = 0.25;
  const std::string text = config_to_json(config);
  EXPECT_EQ(config_from_json(text, ""), config);
  EXPECT_NE(text.find("\"noise_scale\":0.25"), std::string::npos) << text;
  EXPECT_EQ(text.find("lambda_"), std::string::npos) << text;
}

TEST(ConfigJson, KeysOfAnotherArchitectureAreRefused) {
  Json json = preset_json("trm-maze");
  json["lambda_"] = 0.95;
  expect_error(ErrorCode::BadConfig, "'lambda_' does not apply to arch trm",
               [&] { config_from_json(json.dump(), ""); });
}

TEST(ConfigJson, WrongTypesNameTheKey) {
  const std::pair<const char*, Json> wrong[] = {
      {"seq_len", "81"}, {"seq_len", 81.5},     {"seq_len", 18446744073709551615u},
      {"mlp_t", 1},      {"expansion", "four"}, {"arch", 3},
      {"task", nullptr}, {"pos_encodings", {}}, {"forward_dtype", true}};
  for (const auto& [key, value] : wrong) {
    Json json = preset_json("trm-maze");
    json[key] = value;
    expect_error(ErrorCode::BadConfig, std::string("file: ") + key,
                 [&] { config_from_json(json.dump(), "file"); });
  }
}

TEST(ConfigJson, AnyWordNamesATask) {
  Json json = preset_json("trm-maze");
  json["task"] = "four-colors";
  const ModelConfig config = config_from_json(json.dump(), "file");
  EXPECT_EQ(config.task, "four-colors");
  EXPECT_NE(config_to_json(config).find("\"task\":\"four-colors\""), std::string::npos);
  for (const std::string& name : {std::string(), std::string("a b"), std::string(65, 'a')}) {
    json["task"] = name;
    expect_error(ErrorCode::BadConfig, "task is no name",
                 [&] { config_from_json(json.dump(), "file"); });
  }
}

TEST(ConfigJson, MalformedTextAndInvalidConfigurationAreRefused) {
  expect_error(ErrorCode::BadConfig, "not valid JSON", [] { config_from_json("{", ""); });
  expect_error(ErrorCode::BadConfig, "not a JSON object", [] { config_from_json("[]", ""); });
  expect_error(ErrorCode::BadConfig, "twice",
               [] { config_from_json(R"({"arch":1,"arch":1})", ""); });
  Json json = preset_json("trm-maze");
  json["num_heads"] = 7;
  expect_error(ErrorCode::BadConfig, "num_heads", [&] { config_from_json(json.dump(), ""); });
}

}  // namespace
}  // namespace driftless::model
