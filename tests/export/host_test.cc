// SPDX-License-Identifier: Apache-2.0
// Exported models on this machine: states after every step have the bits of the native engine.
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>

#include "driftless/base/files/text_file.h"

#include "tests/export/firmware.h"
#include "tests/export/small_models.h"

namespace driftless::exporter {
namespace {

using driftless::testing::Outcome;
using driftless::testing::run_program;
using testing::CheckOptions;
using testing::Firmware;
using testing::packed;
using testing::SmallModel;

void expect_native_bits(const store::PackedModel& model, const std::string& compiler,
                        const CheckOptions& check = {}) {
  const Firmware firmware(model, check);
  const Outcome compiled = firmware.compile(compiler, "port_host.c");
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const Outcome ran = run_program((firmware.path() / "check").string());
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_EQ(testing::without_counts(ran.out),
            testing::expected_lines(firmware.made(), model, check));
}

class Host : public ::testing::TestWithParam<SmallModel> {};

TEST_P(Host, HasTheBitsOfTheNativeEngine) {
  if (!testing::has_program("gcc")) GTEST_SKIP() << "skipped: no gcc";
  expect_native_bits(packed(GetParam()), "gcc -O1");
}

INSTANTIATE_TEST_SUITE_P(All, Host, ::testing::ValuesIn(testing::small_models()),
                         [](const auto& row) { return row.param.name; });

// Every undefined step ends the program.
TEST_P(Host, DoesNothingUndefined) {
  if (!testing::has_program("clang")) GTEST_SKIP() << "skipped: no clang";
  const std::string sanitizers =
      "clang -O1 -g0 -fsanitize=address,undefined -fno-sanitize-recover=all";
  expect_native_bits(packed(GetParam()), sanitizers, {.boards = 1, .steps = 1});
}

// Any calls, boards and states, by libFuzzer.
TEST(HostFuzz, BoardsAndStepsDoNothingUndefined) {
  if (!testing::has_program("clang")) GTEST_SKIP() << "skipped: no clang";
  const Firmware firmware(packed({"", testing::config_named("HrmTokens")}), {});
  const std::string folder = firmware.path().string();
  const std::string program = folder + "/fuzz";
  const Outcome compiled = run_program(
      "clang -std=c99 -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -I" +
      folder + " " + testing::kFirmware + "/fuzz.c " + folder + "/probe.c -o " + program);
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const Outcome ran = run_program(
      program +
      " -seed=1 -runs=3000 -len_control=0 -max_len=600 -max_total_time=10 -artifact_prefix=" +
      folder + "/");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.err.find("Done "), std::string::npos) << ran.err;
}

TEST(HostFused, ProductsOfTheProcessorHaveTheSameBits) {
  if (!testing::has_program("gcc")) GTEST_SKIP() << "skipped: no gcc";
  if (run_program("grep -qw fma /proc/cpuinfo").exit_code != 0)
    GTEST_SKIP() << "skipped: this processor does not fuse";
  expect_native_bits(packed(testing::sudoku_like()), "gcc -O2 -mfma -mavx2");
}

TEST(HostContraction, IsRefused) {
  if (!testing::has_program("gcc")) GTEST_SKIP() << "skipped: no gcc";
  const Firmware firmware(packed(testing::sudoku_like()), {});
  const std::string source = (firmware.path() / "probe.c").string();
  const auto compiles = [&](const std::string& flags) {
    return run_program("gcc " + flags + " -fsyntax-only " + source);
  };
  EXPECT_EQ(compiles("-std=gnu11 -ffp-contract=off -DPROBE_CONTRACTS_NOTHING").exit_code, 0);
  EXPECT_NE(compiles("-std=gnu11").err.find("-ffp-contract=off"), std::string::npos);
  EXPECT_NE(compiles("-std=c99 -ffast-math").err.find("-ffast-math"), std::string::npos);
}

TEST(HostContraction, IsNoticedWhenItRuns) {
  if (!testing::has_program("gcc")) GTEST_SKIP() << "skipped: no gcc";
  if (run_program("grep -qw fma /proc/cpuinfo").exit_code != 0)
    GTEST_SKIP() << "skipped: this processor does not fuse";
  const Firmware firmware(packed(testing::sudoku_like()), {.has_wrong_calls = false});
  const Outcome compiled = firmware.compile("gcc -O2 -mfma -ffp-contract=fast", "port_host.c");
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const Outcome ran = run_program((firmware.path() / "check").string());
  EXPECT_EQ(testing::without_counts(ran.out),
            "ended " + testing::hex(6) + "\n");  // PROBE_BAD_BUILD
}

// Objects keep to themselves, whatever the models.
TEST(HostPrograms, HoldSeveralModels) {
  if (!testing::has_program("gcc")) GTEST_SKIP() << "skipped: no gcc";
  const driftless::testing::TempDir folder;
  std::string sources;
  const auto add = [&](const SmallModel& small, const char* name) {
    const CExport made = export_c(packed(small), {.name = name, .kernels = {"c"}});
    for (const CFile& file : made.files) testing::write_text(folder.path() / file.name, file.text);
    sources += (folder.path() / (std::string(name) + ".c")).string() + " ";
  };
  add(testing::sudoku_like(), "alpha");
  add({"", testing::config_named("HrmRope")}, "beta");
  testing::write_text(folder.path() / "main.c",
                      "#include \"alpha.h\"\n#include \"beta.h\"\n"
                      "static alpha a[2]; static beta b;\n"
                      "int main(void) {\n"
                      "  static const uint8_t tokens[ALPHA_CELLS] = {1, 2};\n"
                      "  uint64_t lone;\n"
                      "  if (alpha_self_test(&a[0]) || beta_self_test(&b)) return 1;\n"
                      "  if (alpha_set_board(&a[0], tokens, 0) || alpha_step(&a[0], 0)) return 2;\n"
                      "  if (alpha_step(&a[0], 0)) return 3;\n"
                      "  lone = alpha_hash(&a[0]);\n"
                      "  if (alpha_set_board(&a[0], tokens, 0) || alpha_step(&a[0], 0)) return 4;\n"
                      "  if (beta_self_test(&b) || alpha_self_test(&a[1])) return 5;\n"
                      "  if (alpha_step(&a[0], 0)) return 6;\n"
                      "  return alpha_hash(&a[0]) == lone ? 0 : 7;\n"
                      "}\n");
  const std::string program = (folder.path() / "main").string();
  const Outcome compiled = run_program("gcc -O1 " + std::string(testing::kWarnings) + " " +
                                       sources + program + ".c -o " + program);
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  EXPECT_EQ(run_program(program).exit_code, 0);
}

/// The first program in C of a page.
std::string program_of(const std::string& page) {
  const std::string text = read_text(page), begin = "```c\n";
  const size_t at = text.find(begin);
  if (at == std::string::npos) return "";
  const size_t first = at + begin.size();
  return text.substr(first, text.find("```", first) - first);
}

// With a model whose boards are those of the page, but smaller.
TEST(HostPrograms, TheDocumentedProgramAnswersABoard) {
  if (!testing::has_program("gcc")) GTEST_SKIP() << "skipped: no gcc";
  const driftless::testing::TempDir folder;
  const CExport made =
      export_c(packed(testing::sudoku_like()), {.name = "sudoku", .kernels = {"c"}});
  for (const CFile& file : made.files) testing::write_text(folder.path() / file.name, file.text);
  testing::write_text(folder.path() / "main.c",
                      program_of("docs/microcontrollers.md") +
                          "int main(void) {\n"
                          "  static uint8_t board[SUDOKU_CELLS];\n"
                          "  if (solve(board) != SUDOKU_OK) return 1;\n"
                          "  board[0] = SUDOKU_VOCABULARY;\n"
                          "  return solve(board) == SUDOKU_BAD_TOKEN ? 0 : 2;\n"
                          "}\n");
  const std::string program = (folder.path() / "main").string();
  const Outcome compiled =
      run_program("gcc -O1 " + std::string(testing::kWarnings) + " " + program + ".c " +
                  (folder.path() / "sudoku.c").string() + " -o " + program);
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  EXPECT_EQ(run_program(program).exit_code, 0);
}

/// Names and kinds of a model's symbols, as nm -P has them.
std::string symbols_of(const SmallModel& small) {
  const Firmware firmware(packed(small), {});
  const std::string source = (firmware.path() / "probe.c").string();
  return run_program("gcc -std=c99 -O1 -fno-pie -c " + source + " -o " + source + ".o && nm -P " +
                     source + ".o")
      .out;
}

// Objects of a model have neither variables of their own nor a need for more than <string.h>.
TEST(HostPrograms, HaveNoStateAndNoLibrary) {
  if (!testing::has_program("gcc") || !testing::has_program("nm"))
    GTEST_SKIP() << "skipped: no gcc or nm";
  for (const SmallModel& small :
       {testing::sudoku_like(), SmallModel{"", testing::config_named("HrmRope")}}) {
    std::istringstream symbols(symbols_of(small));
    std::string name, kind, rest;
    int64_t count = 0;
    for (; symbols >> name >> kind; std::getline(symbols, rest), ++count) {
      EXPECT_EQ(std::string("bBdDcC").find(kind), std::string::npos) << name << " is a variable";
      EXPECT_TRUE(kind != "U" || name == "memcpy" || name == "memset" || name == "memmove") << name;
    }
    EXPECT_GT(count, 10);
  }
}

void expect_bundled_bits(const std::string& name, const CheckOptions& check) {
  if (!testing::has_program("gcc")) GTEST_SKIP() << "skipped: no gcc";
  const std::string path = "models/" + name + ".safetensors";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "skipped: no " << path;
  expect_native_bits(store::load_packed(path), "gcc -O2", check);
}

TEST(HostModels, SudokuSmallHasTheBitsOfTheNativeEngine) {
  expect_bundled_bits("sudoku-small-mxint4", {.boards = 1, .steps = 2, .has_wrong_calls = false});
}

TEST(HostModels, SudokuMicroHasTheBitsOfTheNativeEngine) {
  expect_bundled_bits("sudoku-micro-mxint4", {.boards = 1, .steps = 2});
}

TEST(HostModels, Sudoku4x4HasTheBitsOfTheNativeEngine) {
  expect_bundled_bits("sudoku-4x4-mxint4", {.boards = 8, .steps = 8});
}

/// As pages write numbers: 24,592.
std::string in_thousands(int64_t number) {
  std::string text = std::to_string(number);
  for (int64_t at = std::ssize(text) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), ",");
  return text;
}

TEST(HostModels, HaveTheSizesOfThePage) {
  const std::string page = read_text("docs/microcontrollers.md");
  for (const char* bundled : {"sudoku-4x4-mxint4", "sudoku-micro-mxint4", "sudoku-small-mxint4"}) {
    const std::string name = bundled;
    const std::string path = "models/" + name + ".safetensors";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "skipped: no " << path;
    const CExport made = export_c(store::load_packed(path), {.name = "probe"});
    const std::string row = "| [" + name + "](../models/" + name + ".md) | " +
                            in_thousands(made.flash_bytes()) + " | " +
                            in_thousands(made.plain_c.bytes) + ", " + in_thousands(made.dsp.bytes) +
                            ", " + in_thousands(made.vector.bytes) + " |";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace driftless::exporter
