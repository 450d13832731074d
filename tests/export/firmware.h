// SPDX-License-Identifier: Apache-2.0
// Compiles an exported model together with tests/export/firmware/check.c, runs it on the host or on
// an emulated board, and says what the native engine gives for the same boards.
#pragma once

#include <string>
#include <vector>

#include "driftless/export/export_c.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/reason/readout.h"

#include "tests/simulate/random_model.h"
#include "tests/testing/run_program.h"

namespace driftless::exporter::testing {

inline constexpr const char* kFirmware = "tests/export/firmware";
/// What no compiler may have a word to say to.
inline constexpr const char* kWarnings = "-std=c99 -Wall -Wextra -pedantic -Wconversion -Werror";

struct CheckOptions {
  int64_t boards = 2;
  int64_t steps = 2;
  bool has_wrong_calls = true;
};

inline bool has_program(const std::string& name) {
  return driftless::testing::run_program("command -v " + name).exit_code == 0;
}

inline std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

inline int64_t puzzle_of(const model::ModelConfig& config, int64_t board) {
  return config.puzzle_emb_len > 0 ? board % config.num_puzzle_identifiers : 0;
}

/// boards.h of a check.
inline std::string boards_text(const model::ModelConfig& config, const CheckOptions& options) {
  std::string rows, puzzles;
  for (int64_t board = 0; board < options.boards; ++board) {
    rows += "{";
    for (const uint8_t token :
         simulate::testing::random_tokens(config, static_cast<uint64_t>(board)))
      rows += std::to_string(token) + ",";
    rows += "},\n";
    puzzles += std::to_string(puzzle_of(config, board)) + ",";
  }
  const std::string count = std::to_string(options.boards);
  return "#include \"probe.h\"\n#define BOARDS " + count + "\n#define STEPS " +
         std::to_string(options.steps) + "\n#define WRONG_CALLS " +
         (options.has_wrong_calls ? "1" : "0") + "\nstatic const uint8_t boards[" + count +
         "][PROBE_CELLS] = {\n" + rows + "};\nstatic const uint32_t puzzles[" + count + "] = {" +
         puzzles + "};\n";
}

/// What the check of an exported model prints but for instructions, by the native engine.
inline std::string expected_lines(const CExport& made, const store::PackedModel& model,
                                  const CheckOptions& options) {
  const auto reasoner = native::make_native_reasoner(model, {.slots = 1});
  std::string text = "self-test " + hex(made.hash) + "\n";
  for (int64_t board = 0; board < options.boards; ++board) {
    const auto tokens =
        simulate::testing::random_tokens(model.config, static_cast<uint64_t>(board));
    reasoner->reset(0, {.tokens = tokens, .puzzle = puzzle_of(model.config, board)});
    const int64_t slot = 0;
    for (int64_t step = 0; step < options.steps; ++step) {
      reasoner->step({&slot, 1});
      const reason::Readout readout = reasoner->read(0);
      const std::vector<float> halt = {readout.halt_logit, readout.continue_logit};
      text += "hash " + hex(state_hash(reasoner->states(0).h, reasoner->states(0).l, halt)) + "\n";
    }
    uint64_t answer = 0;
    for (const uint8_t token : reason::answer_of(reasoner->read(0), model.config.vocab_size))
      answer = answer * 31 + token;
    text += "answer " + hex(answer) + "\n";
  }
  return text + "ended " + hex(0) + "\n";
}

/// The lines without those that count instructions.
inline std::string without_counts(const std::string& text) {
  std::istringstream lines(text);
  std::string out, line;
  while (std::getline(lines, line))
    if (line.rfind("instructions ", 0) != 0) out += line + "\n";
  return out;
}

/// The last count that a check printed.
inline uint64_t instructions_of(const std::string& text) {
  const size_t at = text.rfind("instructions ");
  return at == std::string::npos ? 0 : std::stoull(text.substr(at + 13, 16), nullptr, 16);
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A folder with an exported model, called probe, and its boards.
class Firmware {
 public:
  Firmware(const store::PackedModel& model, const CheckOptions& check, COptions options = {}) {
    options.name = "probe";
    made_ = export_c(model, options);
    for (const CFile& file : made_.files) write_text(path() / file.name, file.text);
    write_text(path() / "boards.h", boards_text(model.config, check));
  }

  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  [[nodiscard]] const CExport& made() const { return made_; }

  /// Every source of the model by itself, with all warnings; then the whole program, by the same
  /// compiler where `linker` is none.
  [[nodiscard]] driftless::testing::Outcome compile(const std::string& compiler,
                                                    const std::string& port,
                                                    const std::string& linking = "",
                                                    const std::string& main = "check.c",
                                                    const std::string& linker = "") const {
    const std::string folder = path().string();
    std::string command;
    for (const CFile& file : made_.files)
      if (file.name.ends_with(".c"))
        command += compiler + " " + kWarnings + " -c " + folder + "/" + file.name + " -o " +
                   folder + "/" + file.name + ".o && ";
    const std::string from = std::string(kFirmware) + "/";
    command += (linker.empty() ? compiler : linker) + " -I" + folder + " " + from + main + " " +
               from + port + " " + folder + "/*.o " + linking + " -o " + folder + "/check";
    return driftless::testing::run_program("{ " + command + "; }");
  }

 private:
  driftless::testing::TempDir folder_;
  CExport made_;
};

}  // namespace driftless::exporter::testing
