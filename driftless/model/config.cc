// SPDX-License-Identifier: Apache-2.0
#include "driftless/model/config.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"

namespace driftless::model {
namespace {

struct Range {
  std::string_view key;
  int64_t value;
  int64_t least;
  int64_t most;
};

struct RealRange {
  std::string_view key;
  double value;
  double least;
  double most;
};

// The upper bounds keep every product of sizes below 2^63 and the parameter list small, whatever a
// file claims.
constexpr int64_t kMaxWidth = 65536;
constexpr int64_t kMaxLayers = 64;
constexpr int64_t kMaxCycles = 256;
constexpr int64_t kMaxSteps = 1 << 20;
constexpr int64_t kMaxPuzzles = int64_t{1} << 31;

void check_ranges(const ModelConfig& c, std::string_view where) {
  const bool has_h_level = architecture(c).tying == Tying::ByState;
  const Range ranges[] = {
      {"vocab_size", c.vocab_size, 1, kMaxWidth},
      {"seq_len", c.seq_len, 1, kMaxWidth},
      {"hidden_size", c.hidden_size, 1, kMaxWidth},
      {"num_layers", c.num_layers, 1, kMaxLayers},
      {"H_layers", c.h_layers, has_h_level ? 1 : 0, has_h_level ? kMaxLayers : 0},
      {"puzzle_emb_len", c.puzzle_emb_len, 0, kMaxWidth},
      {"H_cycles", c.h_cycles, 1, kMaxCycles},
      {"L_cycles", c.l_cycles, 1, kMaxCycles},
      {"halt_max_steps", c.halt_max_steps, 1, kMaxSteps},
      {"halt_confirm_steps", c.halt_confirm_steps, 0, kMaxSteps},
  };
  for (const Range& r : ranges)
    DRIFTLESS_REQUIRE(r.value >= r.least && r.value <= r.most, ErrorCode::BadConfig, where, ": ",
                      r.key, " is out of range; got ", r.value, ", expected ", r.least, " to ",
                      r.most);
  const RealRange reals[] = {
      {"expansion", c.expansion, 0x1p-10, 64}, {"rms_norm_eps", c.rms_norm_eps, 0, 1},
      {"rope_theta", c.rope_theta, 1, 1e12},   {"lambda_", c.lambda, 0, 1},
      {"noise_scale", c.noise_scale, 0, 1e3},  {"H_init_std", c.h_init_std, 0, 1e3},
      {"L_init_std", c.l_init_std, 0, 1e3},    {"halt_threshold", c.halt_threshold, -1e3, 1e3},
  };
  for (const RealRange& r : reals)
    DRIFTLESS_REQUIRE(r.value >= r.least && r.value <= r.most, ErrorCode::BadConfig, where, ": ",
                      r.key, " is out of range; got ", r.value, ", expected ", r.least, " to ",
                      r.most);
}

/// Which tasks there are is not known here; a name is one word that any message may show.
void check_task(const ModelConfig& c, std::string_view where) {
  constexpr size_t kMaxName = 64;
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-_";
  const bool is_name = !c.task.empty() && c.task.size() <= kMaxName &&
                       c.task.find_first_not_of(kLetters) == std::string::npos;
  DRIFTLESS_REQUIRE(is_name, ErrorCode::BadConfig, where, ": task is no name; got ", quote(c.task),
                    ", expected 1 to ", kMaxName, " small letters, digits, - or _");
}

void check_prefix(const ModelConfig& c, std::string_view where) {
  if (c.puzzle_emb_len == 0) return;
  DRIFTLESS_REQUIRE(c.puzzle_emb_ndim >= 1 && c.puzzle_emb_ndim <= c.puzzle_emb_len * c.hidden_size,
                    ErrorCode::BadConfig, where, ": puzzle_emb_ndim does not fit the prefix; got ",
                    c.puzzle_emb_ndim, ", expected 1 to puzzle_emb_len * hidden_size = ",
                    c.puzzle_emb_len * c.hidden_size);
  DRIFTLESS_REQUIRE(c.num_puzzle_identifiers >= 1 && c.num_puzzle_identifiers <= kMaxPuzzles,
                    ErrorCode::BadConfig, where, ": num_puzzle_identifiers is out of range; got ",
                    c.num_puzzle_identifiers, ", expected 1 to ", kMaxPuzzles);
}

void check_rope2d(const ModelConfig& c, std::string_view where) {
  DRIFTLESS_REQUIRE(c.board_width >= 1 && c.seq_len % c.board_width == 0, ErrorCode::BadConfig,
                    where, ": board_width does not divide the board; got ", c.board_width,
                    ", expected a divisor of seq_len = ", c.seq_len);
  DRIFTLESS_REQUIRE(c.puzzle_emb_len == 0, ErrorCode::BadConfig, where,
                    ": rope2d has no positions for prefix rows; got puzzle_emb_len ",
                    c.puzzle_emb_len, ", expected 0");
}

void check_attention(const ModelConfig& c, std::string_view where) {
  DRIFTLESS_REQUIRE(c.num_heads >= 1 && c.hidden_size % c.num_heads == 0, ErrorCode::BadConfig,
                    where, ": num_heads does not divide the width; got ", c.num_heads,
                    ", expected a divisor of hidden_size = ", c.hidden_size);
  const int64_t width = c.hidden_size / c.num_heads;
  const int64_t unit = c.positions == Positions::Rope     ? 2
                       : c.positions == Positions::Rope2d ? 4
                                                          : 1;
  DRIFTLESS_REQUIRE(width % unit == 0, ErrorCode::BadConfig, where, ": ", to_string(c.positions),
                    " rotates channels in pairs; got head width ", width,
                    ", expected a multiple of ", unit);
  if (c.positions == Positions::Rope2d) check_rope2d(c, where);
}

void check_token_mixer(const ModelConfig& c, std::string_view where) {
  DRIFTLESS_REQUIRE(c.positions == Positions::None || c.positions == Positions::Learned,
                    ErrorCode::BadConfig, where,
                    ": pos_encodings has no effect on a token mixer; "
                    "got ",
                    to_string(c.positions), ", expected none or learned");
}

}  // namespace

std::string_view to_string(Arch arch) { return enum_name(architectures(), arch); }
std::string_view to_string(Positions positions) { return enum_name(kPositionsNames, positions); }
std::string_view to_string(ForwardDtype dtype) { return enum_name(kForwardDtypeNames, dtype); }
std::string_view to_string(HaltRule rule) { return enum_name(kHaltRuleNames, rule); }
std::string_view to_string(HaltConfirm confirm) { return enum_name(kHaltConfirmNames, confirm); }

Arch parse_arch(std::string_view text, std::string_view where) {
  return parse_enum(architectures(), text, where);
}
Positions parse_positions(std::string_view text, std::string_view where) {
  return parse_enum(kPositionsNames, text, where);
}
ForwardDtype parse_forward_dtype(std::string_view text, std::string_view where) {
  return parse_enum(kForwardDtypeNames, text, where);
}
HaltRule parse_halt_rule(std::string_view text, std::string_view where) {
  return parse_enum(kHaltRuleNames, text, where);
}
HaltConfirm parse_halt_confirm(std::string_view text, std::string_view where) {
  return parse_enum(kHaltConfirmNames, text, where);
}

const Architecture& architecture(const ModelConfig& config) {
  return row_of(architectures(), config.arch);
}

HaltRule halt_rule(const ModelConfig& config) {
  return config.halt_rule.value_or(architecture(config).halting);
}

void validate(const ModelConfig& config, std::string_view where) {
  check_task(config, where);
  check_ranges(config, where);
  check_prefix(config, where);
  const std::span<const Positions> known = architecture(config).positions;
  const bool has_positions = std::find(known.begin(), known.end(), config.positions) != known.end();
  DRIFTLESS_REQUIRE(has_positions, ErrorCode::BadConfig, where, ": pos_encodings is not one that ",
                    to_string(config.arch), " has; got ", to_string(config.positions));
  if (config.mixer == Mixer::Attention)
    check_attention(config, where);
  else
    check_token_mixer(config, where);
}

}  // namespace driftless::model
