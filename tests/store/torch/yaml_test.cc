// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/torch/yaml.h"

#include <string>

#include <gtest/gtest.h>

#include "driftless/base/error.h"
#include "driftless/store/torch/plain_yaml.h"

#include "tests/testing/expect_error.h"

namespace driftless::store {
namespace {

using driftless::testing::expect_error;

class Yaml : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      parse_yaml("a: [1]", "");
    } catch (const Error& error) {
      if (error.code() == ErrorCode::Unsupported) GTEST_SKIP() << "built without yaml-cpp";
    }
  }
};

constexpr const char* kTraining =
    "arch:\n  H_cycles: 3\n  loss:\n    name: losses@ACTLossHead\n  mlp_t: true\n"
    "  name: recursive_reasoning.trm@TinyRecursiveReasoningModel_ACTV1\n"
    "data_paths:\n- data/sudoku\n- \"two words\"\nevaluators:\n- name: arc@ARC\n  k: -1\n- x\n"
    "project_name: null\nlist: []\nempty:\nkwargs: {}\nlr: 1.0e-04\n# the end\nlast: ''\n";

TEST_F(Yaml, FlattensMapsAndLists) {
  const FlatConfig flat = parse_yaml(
      "arch:\n  H_cycles: 3\n  loss:\n    name: losses@ACTLossHead\n  mlp_t: true\n"
      "data_paths:\n- data/sudoku\n- \"two words\"\nproject_name: null\nevaluators: []\nlr: "
      "1.0e-04\n",
      "f");
  const FlatConfig expected = {{"arch.H_cycles", "3"},
                               {"arch.loss.name", "losses@ACTLossHead"},
                               {"arch.mlp_t", "true"},
                               {"data_paths.0", "data/sudoku"},
                               {"data_paths.1", "two words"},
                               {"project_name", ""},
                               {"lr", "1.0e-04"}};
  EXPECT_EQ(flat, expected);
  EXPECT_TRUE(parse_yaml("", "f").empty());
}

TEST_F(Yaml, PlainTextIsReadTheSameWithoutTheLibrary) {
  for (const std::string& text :
       {std::string(kTraining), std::string(), std::string("---\na: 1\n"),
        std::string("a:\n  - b\n  -\n  - - c\n    - d\ne:\n    f: g h\n"),
        std::string("- a: 1\n  b: 2\n- 3\n"), std::string("a: b:c\nd: ~\ne: 'null'\n")})
    EXPECT_EQ(parse_plain_yaml(text, "f"), parse_yaml(text, "f")) << text;
}

TEST(PlainYaml, MoreThanPlainTextIsRefused) {
  for (const char* text : {"a: [1]",
                           "a: *b",
                           "a: &b c",
                           "a: |\n  b",
                           "a: >\n  b",
                           "a: !b c",
                           "a: b # c",
                           "a: b\n  c",
                           "a: b: c",
                           "a: 'b''c'",
                           "a: \"b\\n\"",
                           "a\n",
                           "a:\tb",
                           "'a': b",
                           "? a",
                           "a:\n    b: 1\n  c: 2",
                           "a: 1\n  b: 2",
                           "- a\nb: c",
                           "a: \xc3\xa9",
                           "{a: b}",
                           "a: - b",
                           "%YAML 1.2\n---\na: b",
                           "a: 1\n---\nb: 2"})
    expect_error(ErrorCode::Unsupported, "more than plain YAML",
                 [&] { parse_plain_yaml(text, "f"); });
  expect_error(ErrorCode::Unsupported, "f:2: more than plain YAML; got 'b: [1]'",
               [] { parse_plain_yaml("a: 1\nb: [1]", "f"); });
  expect_error(ErrorCode::BadFile, "'a' appears twice",
               [] { parse_plain_yaml("a: 1\na: 2", "f"); });
  expect_error(ErrorCode::BadFile, "too large",
               [] { parse_plain_yaml(std::string(1 << 21, '#'), "f"); });
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += std::string(static_cast<size_t>(i), ' ') + "a:\n";
  EXPECT_THROW(parse_plain_yaml(deep, "f"), Error);
}

TEST_F(Yaml, BadTextIsRefused) {
  expect_error(ErrorCode::BadFile, "f: not valid YAML", [] { parse_yaml("a: [1", "f"); });
  expect_error(ErrorCode::BadFile, "not valid YAML", [] { parse_yaml("a: *missing", "f"); });
  expect_error(ErrorCode::BadFile, "not plain text", [] { parse_yaml("{[1]: 2}", "f"); });
  expect_error(ErrorCode::BadFile, "'a' appears twice", [] { parse_yaml("a: 1\na: 2", "f"); });
  expect_error(ErrorCode::BadFile, "too large", [] { parse_yaml(std::string(1 << 21, '#'), "f"); });
}

TEST_F(Yaml, AliasBombsAndDeepNestingAreBounded) {
  std::string bomb = "a0: &a0 [x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb +=
        "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + "," + before + "]\n";
  }
  expect_error(ErrorCode::BadFile, "too large or too deep", [&] { parse_yaml(bomb, "f"); });
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  expect_error(ErrorCode::BadFile, "too deep", [&] { parse_yaml(deep, "f"); });
  const std::string deeper = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_THROW(parse_yaml(deeper, "f"), Error);
}

}  // namespace
}  // namespace driftless::store
