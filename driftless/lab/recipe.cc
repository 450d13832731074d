// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/recipe.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <sstream>
#include <variant>

#include <toml++/toml.h>

#include "driftless/base/error.h"
#include "driftless/base/text.h"

namespace driftless::lab {
namespace {

using Target = std::variant<int64_t*, double*, std::string*>;

enum class Resume { MustMatch, MayDiffer };
enum class Need { Optional, Required };

// One key of a recipe: where its value goes, and what it may be.
struct Key {
  std::string_view section;
  std::string_view name;
  Target target;
  double low = 0;
  double high = std::numeric_limits<double>::max();
  Need need = Need::Optional;
  Resume resume = Resume::MustMatch;
};

constexpr double kAny = std::numeric_limits<double>::max();

std::vector<Key> keys_of(Recipe& r) {
  model::ModelConfig& m = r.model;
  return {
      {"model", "vocab_size", &m.vocab_size, 2, 65536},
      {"model", "seq_len", &m.seq_len, 1, 65536},
      {"model", "hidden_size", &m.hidden_size, 8, 8192},
      {"model", "num_layers", &m.num_layers, 1, 64},
      {"model", "expansion", &m.expansion, 0.5, 64},
      {"recursion", "h_cycles", &m.h_cycles, 1, 64},
      {"recursion", "l_cycles", &m.l_cycles, 1, 64},
      {"recursion", "halt_max_steps", &m.halt_max_steps, 1, 255},
      {"recursion", "halt_exploration", &r.halt_exploration, 0, 1},
      {"train", "seed", &r.seed, 0, kAny, Need::Required},
      {"train", "batch", &r.batch, 1, 65536},
      {"train", "lr", &r.lr.peak, 0, 1},
      {"train", "weight_decay", &r.optimizer.weight_decay, 0, 100},
      {"train", "beta1", &r.optimizer.beta1, 0, 0.9999999},
      {"train", "beta2", &r.optimizer.beta2, 0, 0.9999999},
      {"train", "ema_rate", &r.optimizer.ema_rate, 0, 1},
      {"train", "warmup_steps", &r.lr.warmup_steps, 0, kAny},
      {"train", "steps", &r.lr.steps, 1, kAny, Need::Required, Resume::MayDiffer},
      {"train", "decay_steps", &r.lr.decay_steps, 0, kAny, Need::Optional, Resume::MayDiffer},
      {"train", "final_lr_ratio", &r.lr.final_ratio, 0, 1, Need::Optional, Resume::MayDiffer},
      {"eval", "file", &r.eval_file, 0, kAny, Need::Required, Resume::MayDiffer},
      {"eval", "boards", &r.eval_boards, 1, kAny, Need::Optional, Resume::MayDiffer},
      {"output", "log_every", &r.log_every, 1, kAny, Need::Optional, Resume::MayDiffer},
      {"output", "eval_every", &r.eval_every, 1, kAny, Need::Optional, Resume::MayDiffer},
      {"output", "checkpoint_every", &r.checkpoint_every, 1, kAny, Need::Optional,
       Resume::MayDiffer},
  };
}

std::vector<Key> pool_keys_of(Recipe::PoolFile& pool) {
  return {{"task.pool", "file", &pool.file, 0, kAny, Need::Required},
          {"task.pool", "min_rating", &pool.min_rating, 0, kAny},
          {"task.pool", "share", &pool.share, 1e-9, kAny}};
}

std::string value_text(const Target& target) {
  std::ostringstream out;
  out.precision(17);
  std::visit([&](const auto* value) { out << *value; }, target);
  return out.str();
}

class Reader {
 public:
  Reader(Recipe& recipe, std::string_view where) : recipe_(recipe), where_(where) {}

  void read(const toml::table& root) {
    const std::vector<Key> keys = keys_of(recipe_);
    std::vector<std::string_view> sections = {"task"};
    for (const Key& key : keys)
      if (sections.back() != key.section) sections.push_back(key.section);
    for (const auto& [name, node] : root) {
      require_known(name.str(), sections, name.source().begin.line);
      const toml::table& section = as_table(node, name.str());
      if (name == "task")
        read_task(section);
      else
        read_section(section, name.str(), keys);
    }
    for (const Key& key : keys)
      DRIFTLESS_REQUIRE(key.need == Need::Optional || root[key.section][key.name],
                        ErrorCode::BadConfig, where_, ": no key '", key.section, ".", key.name,
                        "'; it is required");
    DRIFTLESS_REQUIRE(!recipe_.pool.empty(), ErrorCode::BadConfig, where_,
                      ": no [[task.pool]]; expected at least one file of boards");
  }

 private:
  void read_task(const toml::table& task) {
    constexpr std::array<std::string_view, 1> kNames = {"pool"};
    for (const auto& [name, node] : task) {
      require_known(name.str(), kNames, name.source().begin.line);
      const toml::array* files = node.as_array();
      DRIFTLESS_REQUIRE(files != nullptr, ErrorCode::BadConfig, where_, ":",
                        node.source().begin.line, ": got one pool, expected [[task.pool]]");
      for (const toml::node& file : *files) {
        Recipe::PoolFile pool;
        const toml::table& table = as_table(file, "task.pool");
        read_section(table, "task.pool", pool_keys_of(pool));
        DRIFTLESS_REQUIRE(!pool.file.empty(), ErrorCode::BadConfig, where_, ":",
                          file.source().begin.line, ": no key 'task.pool.file'; it is required");
        recipe_.pool.push_back(pool);
      }
    }
  }

  void read_section(const toml::table& table, std::string_view section,
                    const std::vector<Key>& keys) {
    std::vector<std::string_view> names;
    for (const Key& key : keys)
      if (key.section == section) names.push_back(key.name);
    for (const auto& [name, node] : table) {
      require_known(name.str(), names, name.source().begin.line);
      const auto key = std::find_if(keys.begin(), keys.end(), [&](const Key& candidate) {
        return candidate.section == section && candidate.name == name.str();
      });
      read_value(*key, node);
    }
  }

  void read_value(const Key& key, const toml::node& node) {
    const auto line = node.source().begin.line;
    const auto require = [&](bool is_right, const char* expected) {
      DRIFTLESS_REQUIRE(is_right, ErrorCode::BadConfig, where_, ":", line, ": ", key.section, ".",
                        key.name, "; expected ", expected);
    };
    double number = 0;
    if (std::holds_alternative<std::string*>(key.target)) {
      require(node.is_string(), "a text");
      *std::get<std::string*>(key.target) = node.ref<std::string>();
      return;
    }
    if (std::holds_alternative<int64_t*>(key.target)) {
      require(node.is_integer(), "a whole number");
      *std::get<int64_t*>(key.target) = node.ref<int64_t>();
      number = static_cast<double>(node.ref<int64_t>());
    } else {
      require(node.is_number(), "a number");
      number = *node.value<double>();
      *std::get<double*>(key.target) = number;
    }
    DRIFTLESS_REQUIRE(number >= key.low && number <= key.high, ErrorCode::BadConfig, where_, ":",
                      line, ": ", key.section, ".", key.name, "; got ", number, ", expected ",
                      key.low, " to ", key.high);
  }

  const toml::table& as_table(const toml::node& node, std::string_view name) const {
    DRIFTLESS_REQUIRE(node.is_table(), ErrorCode::BadConfig, where_, ":", node.source().begin.line,
                      ": '", name, "'; got a value, expected a section");
    return *node.as_table();
  }

  void require_known(std::string_view name, std::span<const std::string_view> known,
                     uint32_t line) const {
    DRIFTLESS_REQUIRE(std::find(known.begin(), known.end(), name) != known.end(),
                      ErrorCode::BadConfig, where_, ":", line, ": unknown key '", name,
                      "'; did you mean '", nearest_word(name, known), "'?");
  }

  Recipe& recipe_;
  std::string_view where_;
};

toml::table parse_toml(std::string_view text, std::string_view where) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    fail(ErrorCode::BadConfig, where, ":", error.source().begin.line, ": ", error.description());
  }
}

}  // namespace

Recipe parse_recipe(std::string_view text, std::string_view where) {
  Recipe recipe;
  recipe.model.mixer = model::Mixer::Tokens;
  recipe.model.positions = model::Positions::None;
  recipe.model.puzzle_emb_len = 0;
  Reader(recipe, where).read(parse_toml(text, where));
  model::validate(recipe.model, where);
  DRIFTLESS_REQUIRE(recipe.lr.decay_steps <= recipe.lr.steps, ErrorCode::BadConfig, where,
                    ": train.decay_steps; got ", recipe.lr.decay_steps,
                    ", expected at most steps (", recipe.lr.steps, ")");
  return recipe;
}

std::vector<std::pair<std::string, std::string>> describe(const Recipe& recipe) {
  Recipe copy = recipe;
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](const std::vector<Key>& keys, const std::string& index) {
    for (const Key& key : keys)
      lines.emplace_back(std::string(key.section) + index + "." + std::string(key.name),
                         value_text(key.target));
  };
  for (size_t i = 0; i < copy.pool.size(); ++i)
    add(pool_keys_of(copy.pool[i]), "[" + std::to_string(i) + "]");
  add(keys_of(copy), "");
  return lines;
}

std::string describe_text(const Recipe& recipe) {
  std::string text;
  for (const auto& [key, value] : describe(recipe)) text += key + " = " + value + "\n";
  return text;
}

void require_resumable(const Recipe& recipe, const std::string& saved_description) {
  Recipe copy = recipe;
  std::vector<std::string> free_keys;
  for (const Key& key : keys_of(copy))
    if (key.resume == Resume::MayDiffer)
      free_keys.push_back(std::string(key.section) + "." + std::string(key.name));
  const auto fixed_lines = [&](const std::string& text) {
    std::vector<std::string> kept;
    for (const std::string_view line : split(text, '\n')) {
      const std::string name(line.substr(0, line.find(" = ")));
      if (std::find(free_keys.begin(), free_keys.end(), name) == free_keys.end())
        kept.emplace_back(line);
    }
    return kept;
  };
  const std::vector<std::string> mine = fixed_lines(describe_text(recipe));
  const std::vector<std::string> saved = fixed_lines(saved_description);
  std::string differing;
  for (const std::string& line : mine)
    if (std::find(saved.begin(), saved.end(), line) == saved.end())
      differing += (differing.empty() ? "" : ", ") + line.substr(0, line.find(" = "));
  DRIFTLESS_REQUIRE(differing.empty() && mine.size() == saved.size(), ErrorCode::BadConfig,
                    "resume: the saved run had another recipe; differing keys: ",
                    differing.empty() ? "task.pool" : differing,
                    "; start from its weights instead");
}

}  // namespace driftless::lab
