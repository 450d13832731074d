// SPDX-License-Identifier: Apache-2.0
// The program as a user meets it: results on stdout, one line on stderr, documented exit codes, and
// no file left behind by a failure.
#include "tests/cli/program.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/base/files/file.h"
#include "driftless/base/isa.h"
#include "driftless/formats/exponent_rule.h"
#include "driftless/formats/table.h"
#include "driftless/quant/quantizer.h"

#include "tests/testing/sample_values.h"

namespace driftless {
namespace {

using cli_testing::driftless;
using cli_testing::expect_failure;
using testing::Outcome;
using testing::TempDir;

void write_floats(const std::filesystem::path& path, const std::vector<float>& values) {
  write_file_atomic(path, std::as_bytes(std::span(values)));
}

std::vector<float> read_floats(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::vector<int> bytes_of(const std::filesystem::path& path) {
  std::vector<int> bytes;
  for (const std::byte byte : read_file(path)) bytes.push_back(static_cast<int>(byte));
  return bytes;
}

class Codec : public ::testing::Test {
 protected:
  std::string file(const char* name) const { return (dir_.path() / name).string(); }
  Outcome codec(const std::string& verb, const std::string& flags, const char* in,
                const char* out) {
    return driftless("codec " + verb + " " + flags + " --input " + file(in) + " --out " +
                     file(out));
  }
  TempDir dir_;
};

TEST_F(Codec, DecodeOfEncodeIsFakeQuantization) {
  const auto values = testing::awkward_values(97, 8);
  write_floats(file("x"), values);
  for (const formats::Format& format : formats::formats()) {
    if (format.scaling == formats::Scaling::None) continue;
    const std::string flags = "--format " + std::string(format.name);
    ASSERT_EQ(codec("encode", flags, "x", "codes").exit_code, 0);
    ASSERT_EQ(codec("decode", flags + " --count 97", "codes", "y").exit_code, 0);
    std::vector<float> expected(values.size());
    quant::Quantizer(quant::parse_quant_spec(format.name))
        .fake_quantize({values.data(), 1, 97}, {expected.data(), 1, 97});
    EXPECT_EQ(read_floats(file("y")), expected) << format.name;
  }
}

TEST_F(Codec, BlocksWithFractionsDecodeToFakeQuantization) {
  const auto values = testing::awkward_values(97, 8);
  write_floats(file("x"), values);
  for (const char* text : {"int4/block32,scale=e5m3", "int4/block16,scale=e4m4,rule=mse",
                           "fp4_e2m1/block32,scale=fp16,rule=rceil"}) {
    const std::string flags = "--format " + std::string(text);
    ASSERT_EQ(codec("encode", flags, "x", "codes").exit_code, 0);
    ASSERT_EQ(codec("decode", flags + " --count 97", "codes", "y").exit_code, 0);
    std::vector<float> expected(values.size());
    quant::Quantizer(quant::parse_quant_spec(text))
        .fake_quantize({values.data(), 1, 97}, {expected.data(), 1, 97});
    EXPECT_EQ(read_floats(file("y")), expected) << text;
  }
}

TEST_F(Codec, BytesByHand) {
  write_floats(file("x"), {7.0f, -3.0f, 0.0f});
  ASSERT_EQ(codec("encode", "--format int4/block4,scale=e5m3", "x", "y").exit_code, 0);
  EXPECT_EQ(bytes_of(file("y")), (std::vector<int>{15 * 8, 7, 0xfd, 0, 0}));
  ASSERT_EQ(codec("encode", "--format int4/block4,scale=fp16", "x", "y").exit_code, 0);
  EXPECT_EQ(bytes_of(file("y")), (std::vector<int>{0, 0x3c, 7, 0xfd, 0, 0}));
  write_floats(file("x"), {1.0f, -0.75f, 0.0f});
  ASSERT_EQ(codec("encode", "--format mxint4,block=4", "x", "y").exit_code, 0);
  EXPECT_EQ(bytes_of(file("y")), (std::vector<int>{127, 4, 0xfd, 0, 0}));
  ASSERT_EQ(codec("encode", "--format int4", "x", "y").exit_code, 0);
  EXPECT_EQ(bytes_of(file("y")), (std::vector<int>{1, 0xff, 0}));
  ASSERT_EQ(codec("encode", "--format fp4_e2m1", "x", "y").exit_code, 0);
  EXPECT_EQ(bytes_of(file("y")), (std::vector<int>{0x2, 0xa, 0x0}));  // 0.75 ties to 1.
  ASSERT_EQ(codec("encode", "--format bf16", "x", "y").exit_code, 0);
  EXPECT_EQ(bytes_of(file("y")), (std::vector<int>{0x80, 0x3f, 0x40, 0xbf, 0, 0}));
  ASSERT_EQ(codec("encode", "--format mxfp4 --rule ceil", "x", "y").exit_code, 0);
  EXPECT_EQ(bytes_of(file("y")).size(), 33u);
}

TEST_F(Codec, EmptyFilesAreValid) {
  write_floats(file("x"), {});
  for (const formats::Format& format : formats::formats()) {
    const std::string flags = "--format " + std::string(format.name);
    EXPECT_EQ(codec("encode", flags, "x", "codes").exit_code, 0) << format.name;
    EXPECT_EQ(codec("decode", flags, "codes", "y").exit_code, 0) << format.name;
    EXPECT_TRUE(read_file(file("codes")).empty() && read_file(file("y")).empty()) << format.name;
  }
}

TEST_F(Codec, BadInputLeavesNoFile) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  write_floats(file("nan"), {1, 2, nan});
  write_floats(file("inf"), {1, -infinity});
  write_file_atomic(dir_.path() / "odd", "12345");
  write_file_atomic(dir_.path() / "scale", std::string(1, '\xff') + std::string(32, '\0'));
  write_file_atomic(dir_.path() / "nibble", std::string(1, '\x55'));
  write_file_atomic(dir_.path() / "special", std::string(1, '\x7f'));
  write_file_atomic(dir_.path() / "wide", std::string(1, '\xfe') + std::string(32, '\x07'));
  expect_failure(codec("encode", "--format mxint4", "nan", "y"), 15, "value 2");
  expect_failure(codec("encode", "--format int4", "inf", "y"), 15, "value 1");
  expect_failure(codec("encode", "--format int4", "odd", "y"), 12, "multiple of 4");
  expect_failure(codec("decode", "--format mxint4", "odd", "y"), 12, "multiple of 33");
  expect_failure(codec("decode", "--format nvfp4", "nibble", "y"), 12, "tensor scale");
  expect_failure(codec("decode", "--format bf16", "odd", "y"), 12, "multiple of 2");
  expect_failure(codec("decode", "--format mxint4", "scale", "y"), 12, "byte 0");
  expect_failure(codec("decode", "--format mxfp4", "wide", "y"), 12, "byte 1");
  expect_failure(codec("decode", "--format int4", "nibble", "y"), 12, "0x55");
  expect_failure(codec("decode", "--format fp8_e4m3", "special", "y"), 12, "finite");
  expect_failure(codec("decode", "--format int4 --count 9", "special", "y"), 12, "0x7f");
  expect_failure(codec("encode", "--format int4", "absent", "y"), 14, "absent");
  expect_failure(codec("encode", "--format in4", "odd", "y"), 10, "did you mean 'int4'");
  expect_failure(codec("encode", "--format mxint4 --rule flor", "odd", "y"), 10, "'floor'");
  expect_failure(codec("encode", "--format int4/group32", "odd", "y"), 10, "float scales");
  EXPECT_FALSE(std::filesystem::exists(file("y")));
  EXPECT_EQ(dir_.entry_count(), 7);
}

TEST_F(Codec, FailureKeepsTheOutputOfBefore) {
  write_floats(file("x"), {1, std::numeric_limits<float>::quiet_NaN()});
  write_file_atomic(dir_.path() / "y", "precious");
  expect_failure(codec("encode", "--format mxint4", "x", "y"), 15, "value 1");
  EXPECT_EQ(testing::text_of(dir_.path() / "y"), "precious");
}

TEST_F(Codec, ErrorMeasuresFilesAndGaussians) {
  write_floats(file("x"), {7, -3.5f, 2.5f, 0.4f});
  const auto record =
      nlohmann::json::parse(driftless("codec error --json --format int4 --input " + file("x")).out);
  EXPECT_EQ(record["values"], 4);
  EXPECT_EQ(record["worst_error"], 0.5);
  EXPECT_EQ(record["clipped_percent"], 0);
  // 7^2 + 3.5^2 + 2.5^2 + 0.4^2 over 0.5^2 + 0.5^2 + 0.4^2, with 0.4 as a float.
  EXPECT_NEAR(record["sqnr_db"].get<double>(), 10 * std::log10(67.66 / 0.66), 1e-5);
  const auto gaussian =
      driftless("codec error --format mxfp4 --rule even --gaussian 320000 --seed 1");
  EXPECT_EQ(gaussian.exit_code, 0);
  EXPECT_NE(gaussian.out.find("mxfp4,rule=even"), std::string::npos);
}

TEST(Program, UsageErrorsSuggest) {
  expect_failure(driftless("formts"), 2, "did you mean 'formats'");
  expect_failure(driftless("codec error --frmat int4"), 2, "did you mean '--format'");
  expect_failure(driftless("codec error --format int4"), 2, "--gaussian");
  expect_failure(driftless("codec error --format int4 --gaussian 5"), 2, "--seed");
  expect_failure(driftless("codec error --format int4 --gaussian 0 --seed 1"), 2, "--gaussian");
  expect_failure(driftless("codec encode --format int4"), 2, "--input");
  expect_failure(driftless("SOLVE"), 2, "did you mean 'solve'?");
  const Outcome far = driftless("banana");
  expect_failure(far, 2, "unknown argument 'banana' (see 'driftless --help')");
}

TEST(Program, GreetsWithThreeThingsThatWork) {
  const Outcome greeting = driftless("");
  ASSERT_EQ(greeting.exit_code, 0) << greeting.err;
  EXPECT_EQ(greeting.err, "");
  std::istringstream lines(greeting.out);
  int64_t commands = 0;
  const std::string prompt = "  driftless ";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(prompt)) continue;
    ++commands;
    const Outcome outcome = driftless(line.substr(prompt.size()));
    EXPECT_EQ(outcome.exit_code, 0) << line << outcome.err;
    EXPECT_NE(outcome.out, "") << line;
  }
  EXPECT_EQ(commands, 4) << greeting.out;
}

TEST(Program, HelpIsAVerbToo) {
  EXPECT_EQ(driftless("help").out, driftless("--help").out);
  for (const std::string verb : {"eval", "data", "data generate"}) {
    const Outcome help = driftless("help " + verb);
    EXPECT_EQ(help.exit_code, 0) << help.err;
    EXPECT_EQ(help.out, driftless(verb + " --help").out);
  }
  expect_failure(driftless("help formts"), 2, "no verb 'formts'; did you mean 'formats'?");
  expect_failure(driftless("help data genrate"), 2, "did you mean 'generate'?");
}

TEST(Program, FormatsListsEveryFormat) {
  const auto table = driftless("formats");
  const auto rows = nlohmann::json::parse(driftless("formats --json").out);
  EXPECT_EQ(rows.size(), formats::formats().size());
  for (const formats::Format& format : formats::formats()) {
    EXPECT_NE(table.out.find("\n" + std::string(format.name) + " "), std::string::npos)
        << format.name;
  }
}

/// What `driftless info` says of a family of kernels: the set in use.
std::string kernels_in_use(const std::string& family, const std::string& isa) {
  std::istringstream lines(driftless("info", "DRIFTLESS_ISA=" + isa).out);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string name, set;
    if (words >> name >> set && name == family) return set;
  }
  return "";
}

/// Every family: none goes beyond what the variable names, and the set of that very name is taken
/// where there is one.
TEST(Program, OneVariableChoosesTheKernelsOfEveryFamily) {
  for (const Isa& isa : isas()) {
    const std::string wanted(isa.name);
    if (!can_run(wanted)) continue;
    for (const char* family : {"kernels", "loop", "native", "tiles"}) {
      SCOPED_TRACE(std::string(family) + " under " + wanted);
      const std::string used = kernels_in_use(family, wanted);
      EXPECT_TRUE(is_part_of(used, wanted) || used == "portable" || used == "none") << used;
      if (wanted == "scalar" || wanted == "avx2") {
        const bool has_no_set = std::string(family) == "tiles";
        const bool is_portable = std::string(family) == "loop" && wanted == "scalar";
        EXPECT_EQ(used, has_no_set ? "none" : is_portable ? "portable" : wanted);
      }
    }
  }
}

TEST(Program, UnknownInstructionSetsAreRefusedByEveryVerb) {
  for (const char* verb : {"info", "formats", "solve --native", "bench --help"})
    expect_failure(driftless(verb, "DRIFTLESS_ISA=mmx"), 10, "DRIFTLESS_ISA: no such instruction");
}

/// The verbs that a help text lists, each behind `before`.
std::vector<std::string> verbs_of(const std::string& help, const std::string& before) {
  std::vector<std::string> verbs;
  const size_t list = help.find("Subcommands:\n");
  if (list == std::string::npos) return verbs;
  std::istringstream lines(help.substr(list));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("  "))
    if (line[2] != ' ') verbs.push_back(before + line.substr(2, line.find(' ', 2) - 2));
  return verbs;
}

TEST(Program, EveryVerbHasHelpWithAnExample) {
  std::vector<std::string> verbs = verbs_of(driftless("help").out, "");
  ASSERT_GE(verbs.size(), 20U);
  verbs.insert(verbs.begin(), "");
  for (size_t i = 0; i < verbs.size(); ++i) {
    const Outcome outcome = driftless(verbs[i] + " --help");
    EXPECT_EQ(outcome.exit_code, 0) << verbs[i];
    EXPECT_NE(outcome.out.find("Example: "), std::string::npos) << verbs[i];
    EXPECT_EQ(outcome.out.find("[]"), std::string::npos) << verbs[i];
    if (verbs[i].empty()) continue;
    for (const std::string& inner : verbs_of(outcome.out, verbs[i] + " ")) verbs.push_back(inner);
  }
}

}  // namespace
}  // namespace driftless
