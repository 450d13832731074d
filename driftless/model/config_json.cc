// SPDX-License-Identifier: Apache-2.0
#include "driftless/model/config_json.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/text/json.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"

namespace driftless::model {
namespace {

/// Ignored: accepted, checked for its type, and not written back, because it has no effect here.
enum class Use { Required, Optional, Ignored, Forbidden };

using Member = std::variant<int64_t ModelConfig::*, double ModelConfig::*, Arch ModelConfig::*,
                            std::string ModelConfig::*, Positions ModelConfig::*,
                            ForwardDtype ModelConfig::*, Mixer ModelConfig::*,
                            std::optional<HaltRule> ModelConfig::*, HaltConfirm ModelConfig::*>;

struct Field {
  std::string_view key;
  Member member;
  Use (*use)(const ModelConfig&);
};

Use always(const ModelConfig&) { return Use::Required; }
Use with_default(const ModelConfig&) { return Use::Optional; }
Use if_attention(const ModelConfig& c) {
  return c.mixer == Mixer::Attention ? Use::Required : Use::Ignored;
}
Use if_rope(const ModelConfig& c) {
  const bool rotates = c.positions == Positions::Rope || c.positions == Positions::Rope2d;
  return rotates ? Use::Optional : Use::Ignored;
}
Use if_rope2d(const ModelConfig& c) {
  return c.positions == Positions::Rope2d ? Use::Required : Use::Ignored;
}
Use if_prefix(const ModelConfig& c) { return c.puzzle_emb_len > 0 ? Use::Required : Use::Ignored; }
Use required_if(bool condition) { return condition ? Use::Required : Use::Forbidden; }
Use if_h_level(const ModelConfig& c) {
  return required_if(architecture(c).tying == Tying::ByState);
}
Use if_noisy(const ModelConfig& c) { return required_if(architecture(c).draws_noise()); }
Use if_damped(const ModelConfig& c) { return required_if(architecture(c).has(After::Damp)); }
Use if_drawn(const ModelConfig& c) {
  return required_if(architecture(c).start == StartStates::Drawn);
}

/// Written only where it says something.
template <auto kMember>
Use unless_default(const ModelConfig& c) {
  return c.*kMember == ModelConfig{}.*kMember ? Use::Ignored : Use::Optional;
}

constexpr Field kFields[] = {
    {"arch", &ModelConfig::arch, always},
    {"task", &ModelConfig::task, always},
    {"vocab_size", &ModelConfig::vocab_size, always},
    {"seq_len", &ModelConfig::seq_len, always},
    {"hidden_size", &ModelConfig::hidden_size, always},
    {"num_heads", &ModelConfig::num_heads, if_attention},
    {"expansion", &ModelConfig::expansion, always},
    {"num_layers", &ModelConfig::num_layers, always},
    {"H_layers", &ModelConfig::h_layers, if_h_level},
    {"mlp_t", &ModelConfig::mixer, always},
    {"pos_encodings", &ModelConfig::positions, always},
    {"board_width", &ModelConfig::board_width, if_rope2d},
    {"puzzle_emb_len", &ModelConfig::puzzle_emb_len, always},
    {"puzzle_emb_ndim", &ModelConfig::puzzle_emb_ndim, if_prefix},
    {"num_puzzle_identifiers", &ModelConfig::num_puzzle_identifiers, if_prefix},
    {"H_cycles", &ModelConfig::h_cycles, always},
    {"L_cycles", &ModelConfig::l_cycles, always},
    {"halt_max_steps", &ModelConfig::halt_max_steps, with_default},
    {"rms_norm_eps", &ModelConfig::rms_norm_eps, with_default},
    {"rope_theta", &ModelConfig::rope_theta, if_rope},
    {"forward_dtype", &ModelConfig::forward_dtype, with_default},
    {"lambda_", &ModelConfig::lambda, if_damped},
    {"noise_scale", &ModelConfig::noise_scale, if_noisy},
    {"H_init_std", &ModelConfig::h_init_std, if_drawn},
    {"L_init_std", &ModelConfig::l_init_std, if_drawn},
    {"halt_rule", &ModelConfig::halt_rule, unless_default<&ModelConfig::halt_rule>},
    {"halt_threshold", &ModelConfig::halt_threshold, unless_default<&ModelConfig::halt_threshold>},
    {"halt_confirm_steps", &ModelConfig::halt_confirm_steps,
     unless_default<&ModelConfig::halt_confirm_steps>},
    {"halt_confirm_mode", &ModelConfig::halt_confirm_mode,
     unless_default<&ModelConfig::halt_confirm_mode>},
};

using Json = nlohmann::json;

/// Assigns one JSON value to one member; `where` names file and key.
struct Reader {
  const Json& value;
  const std::string& where;
  ModelConfig& config;

  [[noreturn]] void wrong_type(std::string_view expected) const {
    fail(ErrorCode::BadConfig, where, ": wrong type; got ", value.type_name(), ", expected ",
         expected);
  }
  [[nodiscard]] const std::string& text() const {
    if (!value.is_string()) wrong_type("a string");
    return value.get_ref<const std::string&>();
  }
  void operator()(int64_t ModelConfig::*member) const {
    if (!value.is_number_integer()) wrong_type("an integer");
    const bool fits = !value.is_number_unsigned() ||
                      value.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()};
    DRIFTLESS_REQUIRE(fits, ErrorCode::BadConfig, where, ": integer is too large; got ",
                      value.dump());
    config.*member = value.get<int64_t>();
  }
  void operator()(double ModelConfig::*member) const {
    if (!value.is_number()) wrong_type("a number");
    config.*member = value.get<double>();
  }
  void operator()(Mixer ModelConfig::*member) const {
    if (!value.is_boolean()) wrong_type("true or false");
    config.*member = value.get<bool>() ? Mixer::Tokens : Mixer::Attention;
  }
  void operator()(Arch ModelConfig::*member) const { config.*member = parse_arch(text(), where); }
  void operator()(std::string ModelConfig::*member) const { config.*member = text(); }
  void operator()(Positions ModelConfig::*member) const {
    config.*member = parse_positions(text(), where);
  }
  void operator()(ForwardDtype ModelConfig::*member) const {
    config.*member = parse_forward_dtype(text(), where);
  }
  void operator()(std::optional<HaltRule> ModelConfig::*member) const {
    config.*member = parse_halt_rule(text(), where);
  }
  void operator()(HaltConfirm ModelConfig::*member) const {
    config.*member = parse_halt_confirm(text(), where);
  }
};

struct Writer {
  const ModelConfig& config;

  using Value = nlohmann::ordered_json;
  Value operator()(int64_t ModelConfig::*member) const { return config.*member; }
  Value operator()(double ModelConfig::*member) const { return config.*member; }
  Value operator()(std::string ModelConfig::*member) const { return config.*member; }
  Value operator()(Mixer ModelConfig::*member) const { return config.*member == Mixer::Tokens; }
  Value operator()(std::optional<HaltRule> ModelConfig::*member) const {
    return std::string(to_string((config.*member).value_or(HaltRule::Logit)));
  }
  template <class Enum>
  Value operator()(Enum ModelConfig::*member) const {
    return std::string(to_string(config.*member));
  }
};

void require_known_keys(const Json& object, std::string_view where) {
  std::vector<std::string_view> known;
  for (const Field& field : kFields) known.push_back(field.key);
  for (const auto& [key, value] : object.items()) {
    const bool is_known = std::find(known.begin(), known.end(), key) != known.end();
    DRIFTLESS_REQUIRE(is_known, ErrorCode::BadConfig, where, ": unknown key ", quote(key),
                      did_you_mean(key, known));
  }
}

}  // namespace

ModelConfig config_from_json(std::string_view text, std::string_view where) {
  const Json object = parse_json(text, where, ErrorCode::BadConfig);
  DRIFTLESS_REQUIRE(object.is_object(), ErrorCode::BadConfig, where,
                    ": configuration is not a JSON object; got ", object.type_name());
  require_known_keys(object, where);
  ModelConfig config;
  for (const Field& field : kFields) {
    const auto found = object.find(field.key);
    if (found == object.end()) continue;
    const std::string place = std::string(where) + ": " + std::string(field.key);
    std::visit(Reader{*found, place, config}, field.member);
  }
  for (const Field& field : kFields) {
    const bool is_present = object.contains(field.key);
    const Use use = field.use(config);
    DRIFTLESS_REQUIRE(is_present || use != Use::Required, ErrorCode::BadConfig, where,
                      ": missing key '", field.key, "'");
    DRIFTLESS_REQUIRE(!is_present || use != Use::Forbidden, ErrorCode::BadConfig, where, ": key '",
                      field.key, "' does not apply to arch ", to_string(config.arch));
  }
  validate(config, where);
  return config;
}

std::string config_to_json(const ModelConfig& config) {
  nlohmann::ordered_json object;
  for (const Field& field : kFields) {
    const Use use = field.use(config);
    if (use == Use::Required || use == Use::Optional)
      object[std::string(field.key)] = std::visit(Writer{config}, field.member);
  }
  return object.dump();
}

}  // namespace driftless::model
