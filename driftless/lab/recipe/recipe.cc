// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/recipe/recipe.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"
#include "driftless/base/text/toml.h"
#include "driftless/lab/quant/qat_plan.h"
#include "driftless/lab/recipe/recipe_keys.h"
#include "driftless/model/presets.h"

namespace driftless::lab {
namespace {

/// Puts one TOML value where its key wants it.
struct Assign {
  const Key& key;
  const TomlValue& value;

  void operator()(std::string* target) const { *target = value.text(); }
  void operator()(model::Arch* target) const {
    *target = model::parse_arch(value.text(), value.where());
  }
  void operator()(model::Positions* target) const {
    *target = model::parse_positions(value.text(), value.where());
  }
  void operator()(model::Mixer* target) const {
    *target = parse_enum(kMixerNames, value.text(), value.where());
  }
  void operator()(bool* target) const { *target = value.flag(); }
  void operator()(int64_t* target) const { *target = value.integer(key.low, key.high); }
  void operator()(double* target) const { *target = value.number(key.low, key.high); }
};

class Reader {
 public:
  Reader(Recipe& recipe, std::string_view where) : recipe_(recipe), where_(where) {}

  void read(const toml::table& root) {
    const std::vector<Key> keys = keys_of(recipe_);
    std::vector<std::string_view> sections;
    for (const Key& key : keys)
      if (sections.empty() || sections.back() != key.section) sections.push_back(key.section);
    for (const auto& [name, node] : root) {
      require_known_key(name.str(), sections, toml_place(where_, node));
      as_table(node, name.str());
    }
    set_defaults(root);
    for (const auto& [name, node] : root) read_section(*node.as_table(), name.str(), keys);
    DRIFTLESS_REQUIRE(!recipe_.pool.empty(), ErrorCode::BadConfig, where_,
                      ": no [[task.pool]]; expected at least one file of boards");
  }

 private:
  const model::Preset& find_preset(const toml::node& node) const {
    const auto name = node.value<std::string>().value_or("");
    std::vector<std::string_view> names;
    for (const model::Preset& preset : model::presets()) {
      if (preset.name == name) return preset;
      names.push_back(preset.name);
    }
    fail(ErrorCode::BadConfig, where_, ":", node.source().begin.line, ": model.preset; got '", name,
         "'", did_you_mean(name, names));
  }

  /// What the task and the preset say, before any key of its own.
  void set_defaults(const toml::table& root) {
    const toml::node* preset = root["model"]["preset"].node();
    const auto task = root["task"]["name"].value<std::string>();
    if (preset != nullptr) {
      recipe_.model = find_preset(*preset).config;
      recipe_.task = recipe_.model.task;
    }
    if (task) recipe_.task = *task;
    const std::vector<std::string_view> names = task::names_of_tasks();
    DRIFTLESS_REQUIRE(std::find(names.begin(), names.end(), recipe_.task) != names.end(),
                      ErrorCode::BadConfig, where_, ": task.name; got ", recipe_.task,
                      ", expected one of ", join(names, ", "), did_you_mean(recipe_.task, names));
    DRIFTLESS_REQUIRE(preset == nullptr || recipe_.task == recipe_.model.task, ErrorCode::BadConfig,
                      where_, ": model.preset; got one for ", recipe_.model.task,
                      ", expected one for ", recipe_.task);
    if (preset != nullptr) return;
    recipe_.model.task = recipe_.task;
    recipe_.model.vocab_size = task_of(recipe_).vocab_size();
    recipe_.model.seq_len = task_of(recipe_).seq_len;
  }

  void read_section(const toml::table& table, std::string_view section,
                    const std::vector<Key>& keys) {
    std::vector<std::string_view> names;
    if (section == "task") names.emplace_back("pool");
    if (section == "model") names.emplace_back("preset");
    if (section == "recursion") names.emplace_back("stage");
    for (const Key& key : keys) {
      if (key.section != section) continue;
      names.push_back(key.name);
      if (key.old_name.empty()) continue;
      names.push_back(key.old_name);
      DRIFTLESS_REQUIRE(!table[key.name] || !table[key.old_name], ErrorCode::BadConfig,
                        toml_place(where_, table), "'", section, ".", key.name,
                        "' and its old name '", key.old_name, "'; expected one of them");
    }
    for (const auto& [name, node] : table) {
      require_known_key(name.str(), names, toml_place(where_, node));
      const auto key = std::find_if(keys.begin(), keys.end(), [&](const Key& candidate) {
        return candidate.section == section &&
               (candidate.name == name.str() || candidate.old_name == name.str());
      });
      if (key != keys.end()) read_value(*key, node);
    }
    for (const Key& key : keys)
      DRIFTLESS_REQUIRE(key.section != section || key.need == Need::Optional || table[key.name],
                        ErrorCode::BadConfig, where_, ":", table.source().begin.line, ": no key '",
                        section, ".", key.name, "'; it is required");
    if (section == "task") read_pool(table);
    if (section == "recursion") read_stages(table);
  }

  void read_value(const Key& key, const toml::node& node) {
    std::string place = toml_place(where_, node);
    place.append(key.section).append(".").append(key.name);
    std::visit(Assign{key, TomlValue(node, std::move(place))}, key.target);
  }

  /// The tables of [[section.name]].
  template <class Use>
  void for_each_table(const toml::table& table, std::string_view name, Use use) {
    const toml::node* node = table.get(name);
    if (node == nullptr) return;
    const toml::array* tables = node->as_array();
    DRIFTLESS_REQUIRE(tables != nullptr, ErrorCode::BadConfig, where_, ":",
                      node->source().begin.line, ": got one '", name, "', expected [[", name,
                      "]] tables");
    for (const toml::node& one : *tables) use(as_table(one, name));
  }

  void read_pool(const toml::table& task) {
    for_each_table(task, "pool", [&](const toml::table& table) {
      Recipe::PoolPart part;
      read_section(table, "task.pool", pool_keys_of(part));
      require_source(part.source, "task.pool", table.source().begin.line);
      recipe_.pool.push_back(part);
    });
  }

  void read_stages(const toml::table& recursion) {
    for_each_table(recursion, "stage", [&](const toml::table& table) {
      Recipe::Stage stage;
      read_section(table, "recursion.stage", stage_keys_of(stage));
      DRIFTLESS_REQUIRE(recipe_.stages.empty() || recipe_.stages.back().from_step < stage.from_step,
                        ErrorCode::BadConfig, where_, ":", table.source().begin.line,
                        ": recursion.stage.from_step; got ", stage.from_step,
                        ", expected more than ", recipe_.stages.back().from_step);
      recipe_.stages.push_back(stage);
    });
  }

 public:
  void require_source(const BoardSource& source, std::string_view section, uint32_t line) const {
    const auto require = [&](bool is_right, const char* message) {
      DRIFTLESS_REQUIRE(is_right, ErrorCode::BadConfig, where_, ":", line, ": ", section, ": ",
                        message);
    };
    require(source.file.empty() != (source.generate == 0), "expected either 'file' or 'generate'");
    require(source.generate == 0 || source.seed >= 0, "'generate' needs a 'seed'");
    const task::Generator* generator = task_of(recipe_).generator;
    require(source.generate == 0 || generator != nullptr,
            "'generate': the task has no generator; expected 'file'");
    require(source.generate > 0 || source.extra_clues == 0, "'extra_clues' goes with 'generate'");
    const auto knows = [&](std::string_view name) {
      return generator != nullptr && generator->find(name) != nullptr;
    };
    require((source.min_rating == 0 || knows("min-rating")) &&
                (source.extra_clues == 0 || knows("extra-clues")),
            "'min_rating' and 'extra_clues' are for tasks whose generator has them, as Sudoku's");
  }

 private:
  const toml::table& as_table(const toml::node& node, std::string_view name) const {
    DRIFTLESS_REQUIRE(node.is_table(), ErrorCode::BadConfig, where_, ":", node.source().begin.line,
                      ": '", name, "'; got a value, expected a section");
    return *node.as_table();
  }

  Recipe& recipe_;
  std::string_view where_;
};

}  // namespace

Recipe parse_recipe(std::string_view text, std::string_view where) {
  Recipe recipe = default_recipe();
  const toml::table root = parse_toml(text, where);
  Reader reader(recipe, where);
  reader.read(root);
  for (const char* section : {"train", "eval"})
    DRIFTLESS_REQUIRE(root[section], ErrorCode::BadConfig, where, ": no section [", section,
                      "]; it is required");
  reader.require_source(recipe.eval, "eval", root.get("eval")->source().begin.line);
  model::validate(recipe.model, where);
  const bool is_by_cycle = model::architecture(recipe.model).tying == model::Tying::ByCycle;
  DRIFTLESS_REQUIRE(recipe.stages.empty() || !is_by_cycle, ErrorCode::BadConfig, where,
                    ": recursion.stage; ", model::to_string(recipe.model.arch),
                    " has weights for each cycle, expected no stages");
  DRIFTLESS_REQUIRE(recipe.lr.decay_steps <= recipe.lr.steps, ErrorCode::BadConfig, where,
                    ": train.decay_steps; got ", recipe.lr.decay_steps,
                    ", expected at most steps (", recipe.lr.steps, ")");
  recipe.has_quant = static_cast<bool>(root["quant"]);
  if (recipe.has_quant) require_valid(recipe, where);
  return recipe;
}

const task::Task& task_of(const Recipe& recipe) { return task::find_task(recipe.task); }

model::ModelConfig model_at(const Recipe& recipe, int64_t t) {
  model::ModelConfig config = recipe.model;
  for (const Recipe::Stage& stage : recipe.stages)
    if (t > stage.from_step) {
      config.h_cycles = stage.h_cycles;
      config.l_cycles = stage.l_cycles;
    }
  return config;
}

}  // namespace driftless::lab
