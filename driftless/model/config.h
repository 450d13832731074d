// SPDX-License-Identifier: Apache-2.0
// What a recursive reasoner is, as data: one plain struct for TRM, HRM, EqR and TRM with untied
// inner cycles or with noisy transitions. Shape letters: S cells of the board, P prefix rows, T = P
// + S positions, D width, V vocabulary.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "driftless/base/text/enum_names.h"
#include "driftless/model/architecture.h"

namespace driftless::model {

/// What mixes positions inside a block.
enum class Mixer { Attention, Tokens };
/// Number format the reference runs its activations in; parameters are float32.
enum class ForwardDtype { BFloat16, Float16, Float32 };
/// Which steps that want to stop confirm each other: those in a row, or all of a board.
enum class HaltConfirm { Consecutive, Cumulative };

inline constexpr std::array<EnumName<Positions>, 4> kPositionsNames = {
    {{Positions::None, "none"},
     {Positions::Rope, "rope"},
     {Positions::Rope2d, "rope2d"},
     {Positions::Learned, "learned"}}};
inline constexpr std::array<EnumName<ForwardDtype>, 3> kForwardDtypeNames = {
    {{ForwardDtype::BFloat16, "bfloat16"},
     {ForwardDtype::Float16, "float16"},
     {ForwardDtype::Float32, "float32"}}};
inline constexpr std::array<EnumName<HaltRule>, 3> kHaltRuleNames = {
    {{HaltRule::Logit, "logit"}, {HaltRule::Lead, "lead"}, {HaltRule::Never, "never"}}};
inline constexpr std::array<EnumName<HaltConfirm>, 2> kHaltConfirmNames = {
    {{HaltConfirm::Consecutive, "consecutive"}, {HaltConfirm::Cumulative, "cumulative"}}};

std::string_view to_string(Arch arch);
std::string_view to_string(Positions positions);
std::string_view to_string(ForwardDtype dtype);
std::string_view to_string(HaltRule rule);
std::string_view to_string(HaltConfirm confirm);

/// The enumerator called `text`. Throws BadConfig naming `where` and the nearest name.
Arch parse_arch(std::string_view text, std::string_view where);
Positions parse_positions(std::string_view text, std::string_view where);
ForwardDtype parse_forward_dtype(std::string_view text, std::string_view where);
HaltRule parse_halt_rule(std::string_view text, std::string_view where);
HaltConfirm parse_halt_confirm(std::string_view text, std::string_view where);

struct ModelConfig {
  Arch arch = Arch::Trm;
  std::string task = "sudoku";  // a name; the module task knows what it means
  int64_t vocab_size = 11;      // V
  int64_t seq_len = 81;         // S
  int64_t hidden_size = 512;    // D
  int64_t num_heads = 8;        // attention only; head width = D / heads
  double expansion = 4;         // SwiGLU inner width, see swiglu_inner()
  int64_t num_layers = 2;       // blocks of L_level
  int64_t h_layers = 0;         // blocks of H_level; HRM only
  Mixer mixer = Mixer::Attention;
  Positions positions = Positions::Rope;
  int64_t board_width = 0;        // rope2d only: position i is row i / width, column i % width
  int64_t puzzle_emb_len = 16;    // P, rows before the board
  int64_t puzzle_emb_ndim = 512;  // values of a puzzle row; the rest of the P*D prefix values is 0
  int64_t num_puzzle_identifiers = 1;  // rows of the puzzle table
  int64_t h_cycles = 3;
  int64_t l_cycles = 6;
  int64_t halt_max_steps = 16;  // supervision steps
  double rms_norm_eps = 1e-5;
  double rope_theta = 10000;
  ForwardDtype forward_dtype = ForwardDtype::BFloat16;
  // EqR only: state <- (1 - lambda) * state + lambda * net(state + injection) + noise_scale * N(0,
  // I), in evaluation too; initial states are truncated normal with the standard deviations below.
  double lambda = 0.95;
  // Stochastic TRM: the noise of channel c has the standard deviation noise_scale *
  // exp(transition.log_scale[c]), so noise_scale is where training starts.
  double noise_scale = 0.01;
  double h_init_std = 1;
  double l_init_std = 1;
  std::optional<HaltRule> halt_rule = std::nullopt;  // where it is not the architecture's
  double halt_threshold = 0;
  int64_t halt_confirm_steps = 0;  // steps that must want to stop too, besides the last
  HaltConfirm halt_confirm_mode = HaltConfirm::Consecutive;

  bool operator==(const ModelConfig&) const = default;
};

/// The row of the configuration's architecture.
const Architecture& architecture(const ModelConfig& config);

/// The configuration's own rule, or that of its architecture.
HaltRule halt_rule(const ModelConfig& config);

/// Checks the configuration as a whole. Throws BadConfig with the first violation, by its key.
void validate(const ModelConfig& config, std::string_view where);

}  // namespace driftless::model
