// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/recipe.h"

#include <algorithm>
#include <array>
#include <map>
#include <variant>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/toml.h"

namespace driftless::study {
namespace {

constexpr int64_t kMaxRows = 10000;
constexpr int64_t kMaxCount = 1'000'000'000;

struct IntRange {
  int64_t low;
  int64_t high;
};
using IntField = std::pair<int64_t Row::*, IntRange>;
using TextSetter = void (*)(Row&, std::string_view);
using NumberSetter = void (*)(Row&, double);
using FlagSetter = void (*)(Row&, bool);

/// A key of a row and what becomes of its value. The order is the order of the combinations: the
/// last key that is a list varies fastest.
struct Key {
  std::string_view name;
  std::variant<IntField, TextSetter, NumberSetter, FlagSetter> target;
};

using quant::parse_quant_spec;

const std::array<Key, 21> kKeys = {{
    {"both",
     [](Row& r, std::string_view t) { r.scheme.weights = r.scheme.acts = parse_quant_spec(t); }},
    {"weights", [](Row& r, std::string_view t) { r.scheme.weights = parse_quant_spec(t); }},
    {"acts", [](Row& r, std::string_view t) { r.scheme.acts = parse_quant_spec(t); }},
    {"coverage", [](Row& r, std::string_view t) { r.scheme.coverage = quant::parse_coverage(t); }},
    {"bias", [](Row& r, std::string_view t) { r.scheme.bias = quant::parse_bias_precision(t); }},
    {"scales",
     [](Row& r, std::string_view t) { r.scheme.sharing = quant::parse_scale_sharing(t); }},
    {"smooth", NumberSetter([](Row& r, double x) { r.scheme.smooth = x; })},
    {"hadamard", FlagSetter([](Row& r, bool x) { r.scheme.hadamard = x; })},
    {"delta", FlagSetter([](Row& r, bool x) { r.scheme.delta = x; })},
    {"attention",
     [](Row& r, std::string_view t) { r.scheme.attention = quant::parse_attention_precision(t); }},
    {"h_cycles", IntField{&Row::h_cycles, {1, 64}}},
    {"l_cycles", IntField{&Row::l_cycles, {1, 64}}},
    {"steps", IntField{&Row::steps, {1, 4096}}},
    {"calibration_boards", IntField{&Row::calibration_boards, {1, kMaxCount}}},
    {"calibration_seed", IntField{&Row::calibration_seed, {0, kMaxCount}}},
    {"rollouts", IntField{&Row::rollouts, {1, 4096}}},
    {"noise", NumberSetter([](Row& r, double x) { r.noise = x; })},
    {"noise_seed", IntField{&Row::noise_seed, {0, kMaxCount}}},
    {"layer_boards", IntField{&Row::layer_boards, {1, kMaxCount}}},
    {"coherence", FlagSetter([](Row& r, bool x) { r.coherence = x; })},
    {"dynamics", FlagSetter([](Row& r, bool x) { r.dynamics = x; })},
}};

/// `place` starts every message.
void set_value(Row& row, const Key& key, const toml::node& node, const std::string& place) {
  const TomlValue value(node, place + std::string(key.name));
  if (const auto* text = std::get_if<TextSetter>(&key.target)) {
    const std::string given = value.text();
    try {
      (*text)(row, given);
    } catch (const Error& error) {
      fail(ErrorCode::BadConfig, value.where(), ": ", error.what());
    }
  } else if (const auto* number = std::get_if<NumberSetter>(&key.target)) {
    (*number)(row, value.number(0, 1000));
  } else if (const auto* flag = std::get_if<FlagSetter>(&key.target)) {
    (*flag)(row, value.flag());
  } else {
    const auto& [member, range] = std::get<IntField>(key.target);
    row.*member = value.integer(range.low, range.high);
  }
}

class Reader {
 public:
  explicit Reader(std::string_view where) : where_(where) {
    key_names_.reserve(kKeys.size());
    for (const Key& key : kKeys) key_names_.push_back(key.name);
  }

  [[nodiscard]] StudyRecipe read(const toml::table& root) const {
    constexpr std::array<std::string_view, 3> kSections = {"study", "defaults", "rows"};
    for (const auto& [name, node] : root)
      require_known_key(name.str(), kSections, toml_place(where_, node));
    StudyRecipe recipe;
    recipe.name = read_name(root);
    const toml::table no_defaults;
    const toml::table* const defaults =
        root.contains("defaults") ? root["defaults"].as_table() : &no_defaults;
    DRIFTLESS_REQUIRE(defaults != nullptr, ErrorCode::BadConfig, where_,
                      ": 'defaults'; expected a section");
    const toml::array* const groups = root["rows"].as_array();
    DRIFTLESS_REQUIRE(groups != nullptr && !groups->empty(), ErrorCode::BadConfig, where_,
                      ": no [[rows]]; expected at least one");
    for (const toml::node& group : *groups) {
      const toml::table* const table = group.as_table();
      DRIFTLESS_REQUIRE(table != nullptr, ErrorCode::BadConfig, toml_place(where_, group),
                        "'rows'; expected [[rows]]");
      add_combinations(*defaults, *table, recipe.rows);
    }
    return recipe;
  }

 private:
  [[nodiscard]] std::string read_name(const toml::table& root) const {
    constexpr std::array<std::string_view, 1> kNames = {"name"};
    const toml::table* const study = root["study"].as_table();
    DRIFTLESS_REQUIRE(study != nullptr, ErrorCode::BadConfig, where_,
                      ": no section [study]; expected one with a name");
    for (const auto& [name, node] : *study)
      require_known_key(name.str(), kNames, toml_place(where_, node));
    const auto name = (*study)["name"].value<std::string>();
    DRIFTLESS_REQUIRE(name && !name->empty(), ErrorCode::BadConfig, where_,
                      ": no key 'study.name'; expected a text");
    return *name;
  }

  void add_combinations(const toml::table& defaults, const toml::table& group,
                        std::vector<Row>& rows) const {
    for (const toml::table* table : {&defaults, &group})
      for (const auto& [name, node] : *table)
        require_known_key(name.str(), key_names_, toml_place(where_, node));
    std::vector<Row> combinations(1);
    for (const Key& key : kKeys) {
      const toml::node* node = group.get(key.name);
      // A group that says `both` means it, whatever the defaults say of one side.
      const bool is_side = key.name == "weights" || key.name == "acts";
      if (node == nullptr && !(is_side && group.contains("both"))) node = defaults.get(key.name);
      if (node != nullptr) combinations = vary(combinations, key, *node);
    }
    rows.insert(rows.end(), combinations.begin(), combinations.end());
    DRIFTLESS_REQUIRE(std::ssize(rows) <= kMaxRows, ErrorCode::BadConfig, where_,
                      ": rows; got more than ", kMaxRows);
  }

  /// Every combination with every value of the key.
  [[nodiscard]] std::vector<Row> vary(const std::vector<Row>& combinations, const Key& key,
                                      const toml::node& node) const {
    std::vector<const toml::node*> values;
    if (const toml::array* const list = node.as_array())
      for (const toml::node& value : *list) values.push_back(&value);
    else
      values.push_back(&node);
    DRIFTLESS_REQUIRE(!values.empty() && std::ssize(combinations) * std::ssize(values) <= kMaxRows,
                      ErrorCode::BadConfig, toml_place(where_, node), key.name, "; expected 1 to ",
                      kMaxRows, " rows");
    std::vector<Row> varied;
    varied.reserve(combinations.size() * values.size());
    for (const Row& row : combinations)
      for (const toml::node* value : values) {
        varied.push_back(row);
        set_value(varied.back(), key, *value, toml_place(where_, *value));
      }
    return varied;
  }

  std::string_view where_;
  std::vector<std::string_view> key_names_;
};

}  // namespace

StudyRecipe parse_recipe(std::string_view text, std::string_view where) {
  return Reader(where).read(parse_toml(text, where));
}

StudyRecipe load_recipe(const std::filesystem::path& path) {
  return parse_recipe(read_text(path), path.string());
}

void override_rows(StudyRecipe& recipe, std::string_view key_and_value) {
  const size_t equals = key_and_value.find('=');
  DRIFTLESS_REQUIRE(equals != std::string_view::npos, ErrorCode::BadConfig, "override; got ",
                    quote(key_and_value), ", expected key=value");
  const std::string_view name = key_and_value.substr(0, equals);
  const std::string value(key_and_value.substr(equals + 1));
  std::vector<std::string_view> names;
  names.reserve(kKeys.size());
  for (const Key& key : kKeys) names.push_back(key.name);
  require_known_key(name, names, "override: ");
  const auto key = std::find_if(kKeys.begin(), kKeys.end(),
                                [&](const Key& candidate) { return candidate.name == name; });
  const bool is_text = std::holds_alternative<TextSetter>(key->target);
  const toml::table table =
      parse_toml("value = " + (is_text ? "'" + value + "'" : value), "override");
  for (Row& row : recipe.rows) set_value(row, *key, *table.get("value"), "override: ");
}

std::vector<Row> rows_for(const StudyRecipe& recipe, const model::ModelConfig& config) {
  std::vector<Row> rows;
  for (const Row& row : recipe.rows) {
    const Row resolved = resolve(row, config);
    if (std::find(rows.begin(), rows.end(), resolved) == rows.end()) rows.push_back(resolved);
  }
  return rows;
}

}  // namespace driftless::study
