// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/torch/infer.h"

#include <algorithm>
#include <cmath>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"
#include "driftless/store/torch/training_config.h"

namespace driftless::store {
namespace {

using model::Arch;
using model::Mixer;
using model::ModelConfig;
using model::Positions;
using model::PublishedBoards;

/// The first architecture with those words.
Arch arch_of(model::Tying tying, model::StartStates start) {
  for (const model::Architecture& row : model::architectures())
    if (row.tying == tying && row.start == start) return row.value;
  fail(ErrorCode::Internal, "no architecture has what the tensors show");
}

/// TRM's default of puzzle_emb_len.
constexpr int64_t kTrmPrefixRows = 16;

bool is_square(int64_t cells) {
  const int64_t side = std::llround(std::sqrt(static_cast<double>(cells)));
  return side * side == cells;
}

class Inference {
 public:
  Inference(const TensorMap& tensors, const FlatConfig& training, const ImportOptions& options,
            std::string_view where)
      : tensors_(tensors), training_(training, where), options_(options), where_(where) {}

  Inferred run() {
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
    config_.task = task();
    find_positions();
    find_cycles();
    find_numbers();
    require_none_missing();
    apply(options_, config_);
    model::validate(config_, where_);
    return {config_, std::move(assumed_)};
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

  void require_same(const std::string& key, int64_t from_shapes) const {
    const auto value = training_.integer(key);
    DRIFTLESS_REQUIRE(!value || *value == from_shapes, ErrorCode::BadConfig, where_,
                      ": training configuration: arch.", key, " contradicts the tensors; got ",
                      value.value_or(0), ", expected ", from_shapes);
  }

  /// A count of rows or cells, few enough to be added to others; model::validate() says more.
  [[nodiscard]] std::optional<int64_t> countable(std::optional<int64_t> count,
                                                 std::string_view what) const {
    constexpr int64_t kMost = 1 << 20;
    DRIFTLESS_REQUIRE(!count || (*count >= 0 && *count <= kMost), ErrorCode::BadConfig, where_,
                      ": ", what, "; got ", count.value_or(0), ", expected 0 to ", kMost);
    return count;
  }

  /// A value, or a note that all sources lack it and any value in its place.
  template <class T>
  T required(const std::optional<T>& given, const std::optional<T>& from_training,
             std::string_view what, std::string_view flag) {
    if (given) return *given;
    if (from_training) return *from_training;
    missing_.push_back(what);
    missing_flags_.push_back(flag);
    return T{1};
  }

  void require_none_missing() const {
    DRIFTLESS_REQUIRE(missing_.empty(), ErrorCode::BadConfig, where_, ": shapes do not tell ",
                      join(missing_, ", "),
                      ", nor does a configuration; expected all_config.yaml beside the file, or "
                      "'driftless convert' with --config FILE or with ",
                      join(missing_flags_, ", "));
  }

  Arch arch() const {
    if (options_.arch) return *options_.arch;
    using model::StartStates, model::Tying;
    if (first_network() != "L_level") return arch_of(Tying::ByCycle, StartStates::Learned);
    if (const std::string name = training_.module(); !name.empty()) {
      const std::string module = name.substr(name.rfind('.') + 1);
      for (const model::Architecture& row : model::architectures())
        if (std::find(row.modules.begin(), row.modules.end(), module) != row.modules.end())
          return row.value;
      fail(ErrorCode::Unsupported, where_, ": training configuration: arch.name; got ", quote(name),
           ", expected TRM, HRM or EqR; --arch says which it is");
    }
    if (layer_count("H_level") > 0) return arch_of(Tying::ByState, StartStates::Learned);
    return arch_of(Tying::All, has("H_init") ? StartStates::Learned : StartStates::Drawn);
  }

  /// T, where a tensor shows it.
  [[nodiscard]] std::optional<int64_t> positions_count() const {
    if (config_.mixer == Mixer::Tokens)
      return matrix(first_network() + ".layers.0.mlp_t.down_proj.weight").shape[0];
    if (has("embed_pos.embedding_weight")) return matrix("embed_pos.embedding_weight").shape[0];
    return std::nullopt;
  }

  /// The published boards with as many tokens, or null.
  [[nodiscard]] const PublishedBoards* published_boards() const {
    for (const PublishedBoards& boards : model::published_boards())
      if (boards.vocab_size == config_.vocab_size) return &boards;
    return nullptr;
  }

  [[nodiscard]] std::optional<int64_t> published_cells() const {
    const PublishedBoards* boards = published_boards();
    return boards == nullptr ? std::nullopt : std::optional(boards->cells);
  }

  /// Rows that one row of the puzzle table fills.
  [[nodiscard]] int64_t whole_rows() const {
    return (config_.puzzle_emb_ndim + config_.hidden_size - 1) / config_.hidden_size;
  }

  /// P, where the puzzle table or the training configuration tells.
  [[nodiscard]] std::optional<int64_t> prefix_rows() const {
    if (options_.prefix_rows) return countable(options_.prefix_rows, "--prefix-rows");
    if (!has("puzzle_emb.weights")) return 0;
    if (const auto rows = countable(training_.integer("puzzle_emb_len"),
                                    "training configuration: arch.puzzle_emb_len"))
      return *rows == 0 ? whole_rows() : *rows;
    return model::architecture(config_).fills_prefix ? std::optional(whole_rows()) : std::nullopt;
  }

  /// P of a training configuration that does not say: TRM has 16, TRM of EqR's repository, which
  /// has no package, as many as the table fills.
  int64_t default_prefix_rows() {
    const std::string module = training_.module();
    const bool is_eqrs = !module.empty() && module.find('.') == std::string::npos;
    const int64_t rows = is_eqrs ? whole_rows() : kTrmPrefixRows;
    assumed_.push_back(std::to_string(rows) + " prefix rows, the default (--prefix-rows)");
    return rows;
  }

  void find_board() {
    if (has("puzzle_emb.weights")) {
      config_.num_puzzle_identifiers = matrix("puzzle_emb.weights").shape[0];
      config_.puzzle_emb_ndim = matrix("puzzle_emb.weights").shape[1];
    }
    const auto total = positions_count();
    auto cells = countable(options_.cells, "--cells");
    auto rows = prefix_rows();
    if (!rows && total) {
      const int64_t rest = *total - cells.value_or(published_cells().value_or(*total));
      if (cells || rest == kTrmPrefixRows || rest == whole_rows()) rows = rest;
    }
    if (!rows && !training_.is_empty()) rows = default_prefix_rows();
    if (!cells && total && rows) {
      DRIFTLESS_REQUIRE(*rows < *total, ErrorCode::BadConfig, where_, ": prefix rows; got ", *rows,
                        " of ", *total, " positions, expected fewer; --prefix-rows says how many");
      cells = *total - *rows;
    }
    if (!cells) cells = training_.cells_of_data();
    if (!cells && published_cells()) {
      cells = published_cells();
      const PublishedBoards* named = training_.boards_of_data();
      if (named == nullptr || named->sizes == PublishedBoards::Sizes::Any)
        assumed_.push_back(std::to_string(*cells) + " cells a board, as the published boards of " +
                           std::to_string(config_.vocab_size) + " tokens have (--cells)");
    }
    config_.seq_len = required(cells, {}, "the number of cells of a board", "--cells");
    config_.puzzle_emb_len =
        required(rows, {}, "the number of prefix rows (TRM has 16, HRM 1)", "--prefix-rows");
  }

  [[nodiscard]] std::string task() const {
    const PublishedBoards* boards = published_boards();
    if (boards == nullptr) return "other";
    // A 4 x 4 Sudoku has the vocabulary of mazes.
    const bool has_its_size = boards->sizes == PublishedBoards::Sizes::One
                                  ? config_.seq_len == boards->cells
                                  : is_square(config_.seq_len) && config_.seq_len > 16;
    const bool is_its = has_its_size || training_.boards_of_data() == boards;
    return is_its ? std::string(boards->task) : "other";
  }

  void find_positions() {
    if (has("embed_pos.embedding_weight")) {
      config_.positions = Positions::Learned;
    } else if (config_.mixer == Mixer::Tokens) {
      // Rotations have no effect without attention, whatever training was told.
      config_.positions = Positions::None;
    } else {
      config_.positions =
          required(options_.positions, trained_positions(), "the positions", "--positions");
    }
    const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(config_.seq_len)));
    if (config_.positions == Positions::Rope2d)
      config_.board_width = training_.integer("board_width").value_or(side);
  }

  /// A null means none.
  [[nodiscard]] std::optional<Positions> trained_positions() const {
    if (training_.is_null("pos_encodings")) return Positions::None;
    const auto text = training_.text("pos_encodings");
    if (!text) return std::nullopt;
    DRIFTLESS_REQUIRE(*text != "absolute", ErrorCode::BadFile, where_,
                      ": tensor 'absolute_pos_embedding': missing; arch.pos_encodings is absolute, "
                      "expected the table of positions in the file");
    return model::parse_positions(*text, std::string(where_) + ": arch.pos_encodings");
  }

  void find_cycles() {
    config_.h_cycles = required(options_.h_cycles, training_.integer("H_cycles"),
                                "the outer cycles", "--h-cycles");
    if (model::architecture(config_).tying == model::Tying::ByCycle) {
      config_.l_cycles = -1;
      while (layer_count("L_level.cycles." + std::to_string(config_.l_cycles + 1)) > 0)
        ++config_.l_cycles;
    } else {
      config_.l_cycles = required(options_.l_cycles, training_.integer("L_cycles"),
                                  "the inner cycles", "--l-cycles");
    }
    if (config_.mixer == Mixer::Attention)
      config_.num_heads = required(options_.heads, training_.integer("num_heads"),
                                   "the attention heads", "--heads");
    config_.halt_max_steps = training_.integer("halt_max_steps").value_or(config_.halt_max_steps);
    training_.read_halting(config_);
    if (training_.flag("act_inference").value_or(false))
      assumed_.emplace_back(
          "every board makes all steps; training evaluated with early stops "
          "(eval --halting halt)");
  }

  void find_numbers() {
    const auto take = [&](const char* key, double& value) {
      value = training_.number(key).value_or(value);
    };
    take("expansion", config_.expansion);
    take("rms_norm_eps", config_.rms_norm_eps);
    take("rope_theta", config_.rope_theta);
    if (const auto text = training_.text("forward_dtype"))
      config_.forward_dtype =
          model::parse_forward_dtype(*text, std::string(where_) + ": arch.forward_dtype");
    const model::Architecture& row = model::architecture(config_);
    if (row.has(model::After::Damp)) {
      take("lambda_", config_.lambda);
      take("noise_scale", config_.noise_scale);
    }
    if (row.start == model::StartStates::Drawn) {
      take("H_init_std", config_.h_init_std);
      take("L_init_std", config_.l_init_std);
    }
  }

  const TensorMap& tensors_;
  TrainingConfig training_;
  const ImportOptions& options_;
  std::string_view where_;
  ModelConfig config_;
  std::vector<std::string_view> missing_, missing_flags_;
  std::vector<std::string> assumed_;
};

}  // namespace

void apply(const ImportOptions& options, model::ModelConfig& config) {
  config.arch = options.arch.value_or(config.arch);
  config.task = options.task.value_or(config.task);
  config.num_heads = options.heads.value_or(config.num_heads);
  config.h_cycles = options.h_cycles.value_or(config.h_cycles);
  config.l_cycles = options.l_cycles.value_or(config.l_cycles);
  config.positions = options.positions.value_or(config.positions);
  config.halt_max_steps = options.steps.value_or(config.halt_max_steps);
  config.seq_len = options.cells.value_or(config.seq_len);
  config.puzzle_emb_len = options.prefix_rows.value_or(config.puzzle_emb_len);
}

Inferred infer_config(const TensorMap& tensors, const FlatConfig& training,
                      const ImportOptions& options, std::string_view where) {
  return Inference(tensors, training, options, where).run();
}

}  // namespace driftless::store
