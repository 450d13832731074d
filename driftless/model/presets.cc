// SPDX-License-Identifier: Apache-2.0
#include "driftless/model/presets.h"

#include <array>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text.h"

namespace driftless::model {
namespace {

constexpr ModelConfig board(ModelConfig config, Task task) {
  config.task = task;
  config.vocab_size = task == Task::Sudoku ? 11 : task == Task::Maze ? 6 : 12;
  config.seq_len = task == Task::Sudoku ? 81 : 900;
  return config;
}

constexpr ModelConfig trm(Task task, int64_t l_cycles) {
  return board({.l_cycles = l_cycles}, task);
}

constexpr ModelConfig with_token_mixer(ModelConfig config) {
  config.mixer = Mixer::Tokens;
  config.positions = Positions::None;
  return config;
}

constexpr ModelConfig without_prefix(ModelConfig config) {
  config.puzzle_emb_len = 0;
  return config;
}

constexpr ModelConfig narrow(ModelConfig config, int64_t width, int64_t layers) {
  config.hidden_size = width;
  config.num_layers = layers;
  return config;
}

constexpr ModelConfig with_arch(ModelConfig config, Arch arch) {
  config.arch = arch;
  return config;
}

constexpr ModelConfig hrm(Task task) {
  return board({.arch = Arch::Hrm,
                .num_layers = 4,
                .h_layers = 4,
                .puzzle_emb_len = 1,
                .h_cycles = 2,
                .l_cycles = 2},
               task);
}

constexpr ModelConfig kSudokuTokens = with_token_mixer(trm(Task::Sudoku, 6));

constexpr std::array kPresets = {
    Preset{"trm-sudoku-mlp", "TRM, token mixer, 16 prefix rows", kSudokuTokens, 5028866},
    Preset{"trm-sudoku-att", "TRM, attention with rope", trm(Task::Sudoku, 6), 6828034},
    Preset{"trm-sudoku-mlp-256", "TRM, token mixer, width 256, no prefix",
           narrow(without_prefix(kSudokuTokens), 256, 2), 1310210},
    Preset{"trm-maze", "TRM, attention with rope", trm(Task::Maze, 4), 6822914},
    Preset{"trm-maze-mlp", "TRM, token mixer", with_token_mixer(trm(Task::Maze, 4)), 18795522},
    Preset{"trm-arc", "TRM, attention with rope", trm(Task::Arc, 4), 6829058},
    Preset{"hrm-sudoku", "HRM, 4 + 4 blocks, 1 prefix row", hrm(Task::Sudoku), 27275266},
    Preset{"hrm-maze", "HRM, 4 + 4 blocks, 1 prefix row", hrm(Task::Maze), 27270146},
    Preset{"hrm-arc", "HRM, 4 + 4 blocks, 1 prefix row", hrm(Task::Arc), 27276290},
    Preset{"eqr-sudoku", "EqR, token mixer, no prefix",
           with_arch(without_prefix(kSudokuTokens), Arch::Eqr), 4855298},
    Preset{"eqr-sudoku-prefix", "EqR, token mixer, 16 prefix rows",
           with_arch(kSudokuTokens, Arch::Eqr), 5028866},
    Preset{"eqr-maze-unique", "EqR, attention with rope, width 128, one block",
           with_arch(narrow(without_prefix(trm(Task::Maze, 4)), 128, 1), Arch::Eqr), 263938},
};

}  // namespace

std::span<const Preset> presets() { return kPresets; }

const Preset& find_preset(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Preset& preset : kPresets) {
    if (preset.name == name) return preset;
    known.push_back(preset.name);
  }
  fail(ErrorCode::InvalidArgument, "unknown model preset; got '", name, "', expected one of ",
       join(known, ", "), did_you_mean(name, known));
}

}  // namespace driftless::model
