// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/infer.h"

#include <cmath>
#include <string>

#include "driftless/base/error.h"
#include "driftless/base/quote.h"
#include "driftless/base/text.h"

namespace driftless::store {
namespace {

using model::Arch;
using model::Mixer;
using model::ModelConfig;
using model::Positions;

/// Module names before the '@' of arch.name, without their package.
struct ArchModule {
  std::string_view module;
  Arch arch;
};
constexpr ArchModule kArchModules[] = {
    {"trm", Arch::Trm}, {"hrm", Arch::Hrm}, {"hrm_act_v1", Arch::Hrm}, {"eqr", Arch::Eqr}};

/// A task is known by its vocabulary; each has boards of one size.
struct TaskShape {
  model::Task task;
  int64_t vocab_size;
  int64_t cells;
};
constexpr TaskShape kTaskShapes[] = {
    {model::Task::Sudoku, 11, 81}, {model::Task::Maze, 6, 900}, {model::Task::Arc, 12, 900}};

class Inference {
 public:
  Inference(const TensorMap& tensors, const FlatConfig& training, const ImportOptions& options,
            std::string_view where)
      : tensors_(tensors), training_(training), options_(options), where_(where) {}

  ModelConfig run() {
    const Tensor& tokens = matrix("embed_tokens.embedding_weight");
    config_.vocab_size = tokens.shape[0];
    config_.hidden_size = tokens.shape[1];
    config_.mixer = has(first_network() + ".layers.0.mlp_t.down_proj.weight") ? Mixer::Tokens
                                                                              : Mixer::Attention;
    config_.arch = arch();
    config_.num_layers = layer_count(first_network());
    config_.h_layers = layer_count("H_level");
    require_same("hidden_size", config_.hidden_size);
    require_same("L_layers", config_.num_layers);
    find_board();
    find_positions();
    find_cycles();
    find_numbers();
    apply(options_, config_);
    model::validate(config_, where_);
    return config_;
  }

 private:
  [[nodiscard]] bool has(const std::string& name) const { return tensors_.contains(name); }

  const Tensor& matrix(const std::string& name) const {
    const auto found = tensors_.find(name);
    const bool is_matrix =
        found != tensors_.end() && found->second.shape.size() == 2 && !found->second.values.empty();
    DRIFTLESS_REQUIRE(is_matrix, ErrorCode::BadFile, where_, ": tensor '", name,
                      "': missing or not a matrix; is this a recursive reasoner?");
    return found->second;
  }

  /// L_level, or the first of the untied networks.
  [[nodiscard]] std::string first_network() const {
    const bool is_untied = has("L_level.cycles.0.layers.0.mlp.down_proj.weight");
    return is_untied ? "L_level.cycles.0" : "L_level";
  }

  [[nodiscard]] int64_t layer_count(const std::string& network) const {
    int64_t count = 0;
    while (has(network + ".layers." + std::to_string(count) + ".mlp.down_proj.weight")) ++count;
    return count;
  }

  /// A value of the training configuration.
  [[nodiscard]] std::optional<std::string> trained(const std::string& key) const {
    const auto found = training_.find("arch." + key);
    return found == training_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::optional<int64_t> trained_integer(const std::string& key) const {
    const auto text = trained(key);
    if (!text) return std::nullopt;
    const auto value = parse_int(*text);
    DRIFTLESS_REQUIRE(value, ErrorCode::BadConfig, where_, ": training configuration: arch.", key,
                      "; got ", quote(*text), ", expected an integer");
    return value;
  }
  void trained_number(const std::string& key, double& value) const {
    const auto text = trained(key);
    if (!text) return;
    const auto number = parse_number(*text);
    DRIFTLESS_REQUIRE(number, ErrorCode::BadConfig, where_, ": training configuration: arch.", key,
                      "; got ", quote(*text), ", expected a number");
    value = *number;
  }

  void require_same(const std::string& key, int64_t from_shapes) const {
    const auto value = trained_integer(key);
    DRIFTLESS_REQUIRE(!value || *value == from_shapes, ErrorCode::BadConfig, where_,
                      ": training configuration: arch.", key, " contradicts the tensors; got ",
                      value.value_or(0), ", expected ", from_shapes);
  }

  template <class T>
  T required(const std::optional<T>& given, const std::optional<T>& from_training,
             std::string_view what, std::string_view flag) const {
    DRIFTLESS_REQUIRE(given || from_training, ErrorCode::BadConfig, where_, ": shapes do not tell ",
                      what, ", nor does a configuration (all_config.yaml beside the file); give ",
                      flag);
    return given ? *given : *from_training;
  }

  Arch arch() const {
    if (first_network() != "L_level") return Arch::TrmUntied;
    if (const auto name = trained("name")) {
      std::string_view module = std::string_view(*name).substr(0, name->find('@'));
      module = module.substr(module.rfind('.') + 1);
      for (const ArchModule& row : kArchModules)
        if (row.module == module) return row.arch;
      fail(ErrorCode::Unsupported, where_, ": training configuration: arch.name; got ",
           quote(*name), ", expected TRM, HRM or EqR");
    }
    if (layer_count("H_level") > 0) return Arch::Hrm;
    return has("H_init") ? Arch::Trm : Arch::Eqr;
  }

  /// T, where a tensor shows it.
  [[nodiscard]] std::optional<int64_t> positions_count() const {
    if (config_.mixer == Mixer::Tokens)
      return matrix(first_network() + ".layers.0.mlp_t.down_proj.weight").shape[0];
    if (has("embed_pos.embedding_weight")) return matrix("embed_pos.embedding_weight").shape[0];
    return std::nullopt;
  }

  [[nodiscard]] std::optional<int64_t> cells_of_task() const {
    for (const TaskShape& row : kTaskShapes)
      if (row.vocab_size == config_.vocab_size) return row.cells;
    return std::nullopt;
  }

  /// P, from the puzzle table and the training configuration.
  [[nodiscard]] std::optional<int64_t> prefix_rows() const {
    if (!has("puzzle_emb.weights")) return 0;
    const int64_t whole = (config_.puzzle_emb_ndim + config_.hidden_size - 1) / config_.hidden_size;
    if (config_.arch == Arch::Hrm) return whole;
    const auto rows = trained_integer("puzzle_emb_len");
    return rows && *rows == 0 ? whole : rows;
  }

  void find_board() {
    if (has("puzzle_emb.weights")) {
      config_.num_puzzle_identifiers = matrix("puzzle_emb.weights").shape[0];
      config_.puzzle_emb_ndim = matrix("puzzle_emb.weights").shape[1];
    }
    const auto total = positions_count();
    auto cells = options_.cells;
    auto rows = options_.prefix_rows ? options_.prefix_rows : prefix_rows();
    if (!cells && total && rows) cells = *total - *rows;
    if (!cells) cells = cells_of_task();
    if (!rows && total && cells) rows = *total - *cells;
    config_.seq_len = required(cells, {}, "the number of cells of a board", "--cells");
    config_.puzzle_emb_len =
        required(rows, {}, "the number of prefix rows (TRM has 16, HRM 1)", "--prefix-rows");
    config_.task = model::Task::Other;
    for (const TaskShape& row : kTaskShapes)
      if (row.vocab_size == config_.vocab_size && row.cells == config_.seq_len)
        config_.task = row.task;
  }

  void find_positions() {
    if (has("embed_pos.embedding_weight")) {
      config_.positions = Positions::Learned;
    } else if (config_.mixer == Mixer::Tokens) {
      // Rotations have no effect without attention, whatever training was told.
      config_.positions = Positions::None;
    } else {
      std::optional<Positions> named;
      if (const auto text = trained("pos_encodings"))
        named = model::parse_positions(*text, std::string(where_) + ": arch.pos_encodings");
      config_.positions = required(options_.positions, named, "the positions", "--positions");
    }
    const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(config_.seq_len)));
    if (config_.positions == Positions::Rope2d)
      config_.board_width = trained_integer("board_width").value_or(side);
  }

  void find_cycles() {
    config_.h_cycles =
        required(options_.h_cycles, trained_integer("H_cycles"), "the outer cycles", "--h-cycles");
    if (config_.arch == Arch::TrmUntied) {
      config_.l_cycles = -1;
      while (layer_count("L_level.cycles." + std::to_string(config_.l_cycles + 1)) > 0)
        ++config_.l_cycles;
    } else {
      config_.l_cycles = required(options_.l_cycles, trained_integer("L_cycles"),
                                  "the inner cycles", "--l-cycles");
    }
    if (config_.mixer == Mixer::Attention)
      config_.num_heads =
          required(options_.heads, trained_integer("num_heads"), "the attention heads", "--heads");
    config_.halt_max_steps = trained_integer("halt_max_steps").value_or(config_.halt_max_steps);
  }

  void find_numbers() {
    trained_number("expansion", config_.expansion);
    trained_number("rms_norm_eps", config_.rms_norm_eps);
    trained_number("rope_theta", config_.rope_theta);
    if (const auto text = trained("forward_dtype"))
      config_.forward_dtype =
          model::parse_forward_dtype(*text, std::string(where_) + ": arch.forward_dtype");
    if (config_.arch != Arch::Eqr) return;
    trained_number("lambda_", config_.lambda);
    trained_number("noise_scale", config_.noise_scale);
    trained_number("H_init_std", config_.h_init_std);
    trained_number("L_init_std", config_.l_init_std);
  }

  const TensorMap& tensors_;
  const FlatConfig& training_;
  const ImportOptions& options_;
  std::string_view where_;
  ModelConfig config_;
};

}  // namespace

void apply(const ImportOptions& options, model::ModelConfig& config) {
  config.num_heads = options.heads.value_or(config.num_heads);
  config.h_cycles = options.h_cycles.value_or(config.h_cycles);
  config.l_cycles = options.l_cycles.value_or(config.l_cycles);
  config.positions = options.positions.value_or(config.positions);
  config.halt_max_steps = options.steps.value_or(config.halt_max_steps);
  config.seq_len = options.cells.value_or(config.seq_len);
  config.puzzle_emb_len = options.prefix_rows.value_or(config.puzzle_emb_len);
}

model::ModelConfig infer_config(const TensorMap& tensors, const FlatConfig& training,
                                const ImportOptions& options, std::string_view where) {
  return Inference(tensors, training, options, where).run();
}

}  // namespace driftless::store
