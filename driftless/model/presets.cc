// SPDX-License-Identifier: Apache-2.0
#include "driftless/model/presets.h"

#include <array>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"

namespace driftless::model {
namespace {

using Sizes = PublishedBoards::Sizes;
constexpr PublishedBoards kSudoku = {"sudoku", 11, 81, Sizes::One};
constexpr PublishedBoards kMaze = {"maze", 6, 900, Sizes::Any};
constexpr PublishedBoards kArc = {"arc", 12, 900, Sizes::Any};
constexpr std::array kBoards = {kSudoku, kMaze, kArc};

ModelConfig with_boards(ModelConfig config, const PublishedBoards& boards) {
  config.task = boards.task;
  config.vocab_size = boards.vocab_size;
  config.seq_len = boards.cells;
  return config;
}

ModelConfig trm(const PublishedBoards& boards, int64_t l_cycles) {
  return with_boards({.l_cycles = l_cycles}, boards);
}

ModelConfig with_token_mixer(ModelConfig config) {
  config.mixer = Mixer::Tokens;
  config.positions = Positions::None;
  return config;
}

ModelConfig without_prefix(ModelConfig config) {
  config.puzzle_emb_len = 0;
  return config;
}

ModelConfig narrow(ModelConfig config, int64_t width, int64_t layers) {
  config.hidden_size = width;
  config.num_layers = layers;
  return config;
}

ModelConfig with_arch(ModelConfig config, Arch arch) {
  config.arch = arch;
  return config;
}

ModelConfig hrm(const PublishedBoards& boards) {
  return with_boards({.arch = Arch::Hrm,
                      .num_layers = 4,
                      .h_layers = 4,
                      .puzzle_emb_len = 1,
                      .h_cycles = 2,
                      .l_cycles = 2},
                     boards);
}

std::vector<Preset> make_presets() {
  const ModelConfig tokens = with_token_mixer(trm(kSudoku, 6));
  return {
      {"trm-sudoku-mlp", "TRM, token mixer, 16 prefix rows", tokens, 5028866},
      {"trm-sudoku-att", "TRM, attention with rope", trm(kSudoku, 6), 6828034},
      {"trm-sudoku-mlp-256", "TRM, token mixer, width 256, no prefix",
       narrow(without_prefix(tokens), 256, 2), 1310210},
      {"trm-maze", "TRM, attention with rope", trm(kMaze, 4), 6822914},
      {"trm-maze-mlp", "TRM, token mixer", with_token_mixer(trm(kMaze, 4)), 18795522},
      {"trm-arc", "TRM, attention with rope", trm(kArc, 4), 6829058},
      {"hrm-sudoku", "HRM, 4 + 4 blocks, 1 prefix row", hrm(kSudoku), 27275266},
      {"hrm-maze", "HRM, 4 + 4 blocks, 1 prefix row", hrm(kMaze), 27270146},
      {"hrm-arc", "HRM, 4 + 4 blocks, 1 prefix row", hrm(kArc), 27276290},
      {"eqr-sudoku", "EqR, token mixer, no prefix", with_arch(without_prefix(tokens), Arch::Eqr),
       4855298},
      {"eqr-sudoku-prefix", "EqR, token mixer, 16 prefix rows", with_arch(tokens, Arch::Eqr),
       5028866},
      {"eqr-maze-unique", "EqR, attention with rope, width 128, one block",
       with_arch(narrow(without_prefix(trm(kMaze, 4)), 128, 1), Arch::Eqr), 263938},
  };
}

}  // namespace

std::span<const PublishedBoards> published_boards() { return kBoards; }

std::span<const Preset> presets() {
  static const std::vector<Preset> presets = make_presets();
  return presets;
}

const Preset& find_preset(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset;
    known.push_back(preset.name);
  }
  fail(ErrorCode::InvalidArgument, "unknown model preset; got '", name, "', expected one of ",
       join(known, ", "), did_you_mean(name, known));
}

}  // namespace driftless::model
