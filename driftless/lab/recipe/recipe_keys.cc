// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/recipe/recipe_keys.h"

#include <map>
#include <sstream>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"

namespace driftless::lab {
namespace {

constexpr double kAny = std::numeric_limits<double>::max();

using Description = std::map<std::string, std::string>;

Description parse_description(const std::string& text) {
  Description lines;
  for (const std::string_view line : split(text, '\n')) {
    const size_t at = line.find(" = ");
    if (at != std::string_view::npos) lines[std::string(line.substr(0, at))] = line.substr(at + 3);
  }
  return lines;
}

std::string index_text(size_t i) {
  std::string text = "[";
  text += std::to_string(i);
  return text += "]";
}

std::string described_name(const Key& key, const std::string& index) {
  const std::string_view name = key.old_name.empty() ? key.name : key.old_name;
  return std::string(key.section) + index + "." + std::string(name);
}

bool may_differ(std::string_view name) {
  Recipe recipe;
  for (const Key& key : keys_of(recipe))
    if (name == described_name(key, "")) return key.resume == Resume::MayDiffer;
  return false;
}

}  // namespace

std::vector<Key> keys_of(Recipe& r) {
  model::ModelConfig& m = r.model;
  constexpr Need kOptional = Need::Optional;
  constexpr Resume kFree = Resume::MayDiffer;
  return {
      {"task", "name", &r.task},
      {"task", "augment", &r.augment},
      {"model", "arch", &m.arch},
      {"model", "mixer", &m.mixer},
      {"model", "positions", &m.positions},
      {"model", "vocab_size", &m.vocab_size, 2, 256},
      {"model", "seq_len", &m.seq_len, 1, 65536},
      {"model", "hidden_size", &m.hidden_size, 8, 8192},
      {"model", "num_heads", &m.num_heads, 1, 1024},
      {"model", "num_layers", &m.num_layers, 1, 64},
      {"model", "h_layers", &m.h_layers, 0, 64},
      {"model", "expansion", &m.expansion, 0.5, 64},
      {"model", "board_width", &m.board_width, 0, 65536},
      {"model", "puzzle_emb_len", &m.puzzle_emb_len, 0, 1024},
      {"model", "puzzle_emb_ndim", &m.puzzle_emb_ndim, 1, 65536},
      {"recursion", "h_cycles", &m.h_cycles, 1, 64},
      {"recursion", "l_cycles", &m.l_cycles, 1, 64},
      {"recursion", "halt_max_steps", &m.halt_max_steps, 1, 255},
      {"recursion", "halt_exploration", &r.halt_exploration, 0, 1},
      {"recursion", "lambda", &m.lambda, 0, 1},
      {"recursion", "noise_scale", &m.noise_scale, 0, 100},
      {"recursion", "h_init_std", &m.h_init_std, 0, 100},
      {"recursion", "l_init_std", &m.l_init_std, 0, 100},
      {"train", "seed", &r.seed, 0, kAny, Need::Required},
      {"train", "batch", &r.batch, 1, 65536},
      {"train", "lr", &r.lr.peak, 0, 1},
      {"train", "weight_decay", &r.optimizer.weight_decay, 0, 100},
      {"train", "beta1", &r.optimizer.beta1, 0, 0.9999999},
      {"train", "beta2", &r.optimizer.beta2, 0, 0.9999999},
      {"train", "ema_rate", &r.optimizer.ema_rate, 0, 1},
      {"train", "puzzle_lr", &r.puzzle_lr, 0, 1},
      {"train", "puzzle_weight_decay", &r.puzzle_weight_decay, 0, 100},
      {"train", "noise_weight", &r.noise_weight, 0, 1000},
      {"train", "warmup_steps", &r.lr.warmup_steps, 0, kAny},
      {"train", "steps", &r.lr.steps, 1, kAny, Need::Required, kFree},
      {"train", "decay_steps", &r.lr.decay_steps, 0, kAny, kOptional, kFree},
      {"train", "final_lr_ratio", &r.lr.final_ratio, 0, 1, kOptional, kFree},
      {"quant", "weights", &r.quant.weights},
      {"quant", "acts", &r.quant.acts},
      {"quant", "coverage", &r.quant.coverage},
      {"quant", "weight_method", &r.quant.weight_method},
      {"quant", "act_method", &r.quant.act_method},
      {"quant", "bias", &r.quant.bias},
      {"quant", "plan", &r.quant.plan},
      {"quant", "iteration_norm", &r.quant.iteration_norm},
      {"quant", "scale_lr", &r.quant.scale_lr, 0, 1, kOptional, Resume::MustMatch, "step_lr"},
      {"quant", "distill", &r.quant.distill, 0, 1000},
      {"quant", "distill_local", &r.quant.distill_local},
      {"quant", "labels", &r.quant.labels},
      {"quant", "calibration_boards", &r.quant.calibration_boards, 1, 4096},
      {"eval", "file", &r.eval.file, 0, kAny, kOptional, kFree},
      {"eval", "generate", &r.eval.generate, 1, kAny, kOptional, kFree},
      {"eval", "seed", &r.eval.seed, 0, kAny, kOptional, kFree},
      {"eval", "extra_clues", &r.eval.extra_clues, 0, 81, kOptional, kFree},
      {"eval", "min_path", &r.eval.min_path, 2, kAny, kOptional, kFree},
      {"eval", "boards", &r.eval_boards, 1, kAny, kOptional, kFree},
      {"output", "log_every", &r.log_every, 1, kAny, kOptional, kFree},
      {"output", "eval_every", &r.eval_every, 1, kAny, kOptional, kFree},
      {"output", "checkpoint_every", &r.checkpoint_every, 1, kAny, kOptional, kFree},
  };
}

std::vector<Key> pool_keys_of(Recipe::PoolPart& pool) {
  return {{"task.pool", "file", &pool.source.file},
          {"task.pool", "generate", &pool.source.generate, 1},
          {"task.pool", "seed", &pool.source.seed},
          {"task.pool", "extra_clues", &pool.source.extra_clues, 0, 81},
          {"task.pool", "min_rating", &pool.source.min_rating},
          {"task.pool", "min_path", &pool.source.min_path, 2},
          {"task.pool", "share", &pool.share, 1e-9}};
}

std::vector<Key> stage_keys_of(Recipe::Stage& stage) {
  return {{"recursion.stage", "from_step", &stage.from_step},
          {"recursion.stage", "h_cycles", &stage.h_cycles, 1, 64, Need::Required},
          {"recursion.stage", "l_cycles", &stage.l_cycles, 1, 64, Need::Required}};
}

std::string value_text(const Target& target) {
  std::ostringstream out;
  out.precision(17);
  out << std::boolalpha;
  struct {
    std::ostringstream& out;
    void operator()(const int64_t* value) { out << *value; }
    void operator()(const double* value) { out << *value; }
    void operator()(const bool* value) { out << *value; }
    void operator()(const std::string* value) { out << *value; }
    void operator()(const model::Arch* value) { out << model::to_string(*value); }
    void operator()(const model::Positions* value) { out << model::to_string(*value); }
    void operator()(const model::Mixer* value) { out << enum_name(kMixerNames, *value); }
  } print{out};
  std::visit(print, target);
  return out.str();
}

Recipe default_recipe() {
  Recipe recipe;
  recipe.model.mixer = model::Mixer::Tokens;
  recipe.model.positions = model::Positions::None;
  recipe.model.puzzle_emb_len = 0;
  return recipe;
}

std::vector<std::pair<std::string, std::string>> describe(const Recipe& recipe) {
  Recipe copy = recipe;
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](const std::vector<Key>& keys, const std::string& index) {
    for (const Key& key : keys)
      lines.emplace_back(described_name(key, index), value_text(key.target));
  };
  for (size_t i = 0; i < copy.pool.size(); ++i) add(pool_keys_of(copy.pool[i]), index_text(i));
  add(keys_of(copy), "");
  for (size_t i = 0; i < copy.stages.size(); ++i) add(stage_keys_of(copy.stages[i]), index_text(i));
  return lines;
}

std::string describe_text(const Recipe& recipe) {
  std::string text;
  for (const auto& [key, value] : describe(recipe)) text += key + " = " + value + "\n";
  return text;
}

void require_resumable(const Recipe& recipe, const std::string& saved_description) {
  Recipe defaults = default_recipe();
  defaults.pool.resize(recipe.pool.size());
  const Description fallback = parse_description(describe_text(defaults));
  const Description saved = parse_description(saved_description);
  std::string differing;
  const auto note = [&](const std::string& name) {
    differing += (differing.empty() ? "" : ", ") + name;
  };
  for (const auto& [name, value] : describe(recipe)) {
    const auto theirs = saved.find(name);
    const auto usual = fallback.find(name);
    const bool is_equal = theirs != saved.end() ? theirs->second == value
                                                : usual != fallback.end() && usual->second == value;
    if (!is_equal && !may_differ(name)) note(name);
  }
  const Description mine = parse_description(describe_text(recipe));
  for (const auto& [name, value] : saved)
    if (!mine.contains(name)) note(name);
  DRIFTLESS_REQUIRE(differing.empty(), ErrorCode::BadConfig,
                    "resume: the saved run had another recipe; differing keys: ", differing,
                    "; only train.steps, train.decay_steps, train.final_lr_ratio, [eval] and "
                    "[output] may change; give --from its weights to start anew");
}

}  // namespace driftless::lab
