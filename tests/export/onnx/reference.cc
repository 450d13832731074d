// SPDX-License-Identifier: Apache-2.0
// Writes exported graphs, inputs and what our own backend makes of them, for runtime_test.mjs:
// onnx_reference FOLDER. Small models of every kind, and one that is trained.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/export/onnx/export_onnx.h"
#include "driftless/model/schedule.h"
#include "driftless/model/shapes.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/reason/run.h"
#include "driftless/simulate/cpu_reasoner.h"

#include "tests/simulate/random_model.h"

namespace driftless::exporter {
namespace {

using Json = nlohmann::json;
using store::Checkpoint;
using Floats = std::vector<float>;

/// Boards and the states they are at; a board without states is new.
struct Inputs {
  std::vector<std::vector<uint8_t>> tokens;
  std::vector<int64_t> puzzles;
  std::vector<Floats> h, l;

  [[nodiscard]] int64_t boards() const { return std::ssize(tokens); }
  [[nodiscard]] reason::Board board(size_t i) const { return {tokens[i], puzzles[i]}; }
};

struct Outputs {
  Floats h, l, logits, halt;
};

Floats random_state(const model::ModelConfig& config, Rng& rng) {
  Floats values(static_cast<size_t>(model::positions_count(config) * config.hidden_size));
  for (float& value : values) value = static_cast<float>(rng.gaussian());
  return values;
}

/// Every other board is new, where the model has states to start from.
Inputs random_inputs(const model::ModelConfig& config, int64_t boards) {
  Inputs in;
  Rng rng(7);
  const bool is_drawn = model::architecture(config).start == model::StartStates::Drawn;
  for (int64_t i = 0; i < boards; ++i) {
    in.tokens.push_back(simulate::testing::random_tokens(config, static_cast<uint64_t>(i) + 11));
    in.puzzles.push_back(config.puzzle_emb_len > 0 ? i % config.num_puzzle_identifiers : 0);
    const bool is_new = !is_drawn && i % 2 == 0;
    in.h.push_back(is_new ? Floats{} : random_state(config, rng));
    in.l.push_back(is_new ? Floats{} : random_state(config, rng));
  }
  return in;
}

void append(Floats& to, std::span<const float> values) {
  to.insert(to.end(), values.begin(), values.end());
}

/// One step of our backend; `moved` is added to or taken from every value that it starts from.
Outputs step(reason::Reasoner& reasoner, const Inputs& in, float moved = 0, uint64_t seed = 0) {
  Rng rng(seed);
  Outputs out;
  for (size_t i = 0; i < in.tokens.size(); ++i) {
    reasoner.reset(0, in.board(i));
    const reason::States fresh = reasoner.states(0);
    Floats h = in.h[i].empty() ? Floats(fresh.h.begin(), fresh.h.end()) : in.h[i];
    Floats l = in.l[i].empty() ? Floats(fresh.l.begin(), fresh.l.end()) : in.l[i];
    for (Floats* state : {&h, &l})
      for (float& value : *state) value += rng.below(2) == 0 ? moved : -moved;
    reasoner.set_states(0, {h, l});
    const int64_t slot = 0;
    reasoner.step({&slot, 1});
    const reason::Readout readout = reasoner.read(0);
    append(out.h, reasoner.states(0).h);
    append(out.l, reasoner.states(0).l);
    append(out.logits, readout.logits);
    append(out.halt, Floats{readout.halt_logit, readout.continue_logit});
  }
  return out;
}

float largest(const Floats& values) {
  float out = 0;
  for (const float value : values) out = std::max(out, std::abs(value));
  return out;
}

float largest_distance(const Floats& a, const Floats& b) {
  float out = 0;
  for (size_t i = 0; i < a.size(); ++i) out = std::max(out, std::abs(a[i] - b[i]));
  return out;
}

/// What rounding may do to an output. The rounding errors of a sum of K products in float32 are a
/// random walk whatever its order: beyond 4 sqrt(K) / 2^24 of its magnitude once in 10^4 sums
/// (Higham and Mary, A New Approach to Probabilistic Rounding Error Analysis, 2019). A norm keeps
/// states at magnitude one, so each sublayer moves a state by about that unit, each its own way:
/// together by the root of their number. What the rest of a step makes of a unit is probed: all
/// values of the start are moved by one either way, and the largest change of the output is taken.
struct Tolerance {
  float h, l, logits, halt;
};

Tolerance tolerance_of(reason::Reasoner& reasoner, const Inputs& in, const Outputs& out) {
  const model::ModelConfig& config = reasoner.config();
  int64_t longest = std::max(model::positions_count(config), config.hidden_size);
  longest = std::max(longest, model::swiglu_inner(longest, config.expansion));
  const float unit = 4 * std::sqrt(static_cast<float>(longest)) * 0x1p-24f;
  const auto networks = model::networks(config);
  int64_t sublayers = 0;
  for (const model::NetworkCall& call : model::schedule(config))
    sublayers += 2 * networks[static_cast<size_t>(call.network)].num_layers;
  Outputs most{{0}, {0}, {0}, {0}};
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const Outputs moved = step(reasoner, in, unit, seed);
    most.h[0] = std::max(most.h[0], largest_distance(moved.h, out.h));
    most.l[0] = std::max(most.l[0], largest_distance(moved.l, out.l));
    most.logits[0] = std::max(most.logits[0], largest_distance(moved.logits, out.logits));
    most.halt[0] = std::max(most.halt[0], largest_distance(moved.halt, out.halt));
  }
  const auto sum = [&](float growth, const Floats& values) {
    return std::sqrt(static_cast<float>(sublayers)) * (growth + unit * largest(values));
  };
  return {sum(most.h[0], out.h), sum(most.l[0], out.l), sum(most.logits[0], out.logits),
          sum(most.halt[0], out.halt)};
}

Json to_json(const Outputs& out) {
  return {
      {"z_h_next", out.h}, {"z_l_next", out.l}, {"logits", out.logits}, {"halt_logits", out.halt}};
}

Json to_json(const model::ModelConfig& config, const Inputs& in) {
  Json json = {{"boards", in.boards()},
               {"cells", config.seq_len},
               {"rows", model::positions_count(config)},
               {"width", config.hidden_size},
               {"has_puzzle", config.puzzle_emb_len > 0},
               {"has_start", model::architecture(config).start == model::StartStates::Learned},
               {"puzzle", in.puzzles}};
  std::vector<int> tokens;
  Floats h, l;
  std::vector<int> is_new;
  const auto size = static_cast<size_t>(model::positions_count(config) * config.hidden_size);
  for (size_t i = 0; i < in.tokens.size(); ++i) {
    tokens.insert(tokens.end(), in.tokens[i].begin(), in.tokens[i].end());
    is_new.push_back(in.h[i].empty() ? 1 : 0);
    append(h, in.h[i].empty() ? Floats(size, 9.0f) : in.h[i]);  // a new board's are not looked at
    append(l, in.l[i].empty() ? Floats(size, -9.0f) : in.l[i]);
  }
  json["tokens"] = tokens;
  json["is_new"] = is_new;
  json["z_h"] = h;
  json["z_l"] = l;
  return json;
}

std::unique_ptr<reason::Reasoner> simulated(const Checkpoint& model, OnnxPrecision precision) {
  if (precision == OnnxPrecision::Float32) return simulate::make_cpu_reasoner(model, {.slots = 1});
  const OnnxQuantizers quantizers = onnx_quantizers(precision);
  const quant::QuantPlan plan =
      quant::resolve({.weights = quant::parse_quant_spec(quantizers.weights),
                      .acts = quant::parse_quant_spec(quantizers.acts)},
                     reason::linear_layers(model.config));
  return simulate::make_cpu_reasoner(model, {.slots = 1, .plan = &plan});
}

class Cases {
 public:
  explicit Cases(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Float: equal but for rounding. Integers: nearer to our simulation of the same quantizers than
  /// that is to float; rounding moves single codes, a wrong product all of them.
  void add_step(const std::string& name, const Checkpoint& model, const Inputs& in,
                OnnxPrecision precision) {
    const auto reasoner = simulated(model, precision);
    const Outputs out = step(*reasoner, in);
    Json json = {{"name", name},
                 {"kind", "step"},
                 {"inputs", to_json(model.config, in)},
                 {"expected", to_json(out)}};
    if (precision == OnnxPrecision::Float32) {
      const Tolerance most = tolerance_of(*reasoner, in, out);
      json["tolerance"] = {{"z_h_next", most.h},
                           {"z_l_next", most.l},
                           {"logits", most.logits},
                           {"halt_logits", most.halt}};
    } else {
      json["float"] = to_json(step(*simulated(model, OnnxPrecision::Float32), in));
    }
    write(name, json, export_onnx(model, {.precision = precision}).bytes);
  }

  /// Answers and steps are whole numbers, and equal.
  void add_solve(const std::string& name, const Checkpoint& model, const Inputs& in,
                 int64_t steps) {
    const auto reasoner = simulate::make_cpu_reasoner(model, {.slots = 1});
    std::vector<reason::Board> boards;
    for (size_t i = 0; i < in.tokens.size(); ++i) boards.push_back(in.board(i));
    std::vector<int> answers(static_cast<size_t>(in.boards() * model.config.seq_len));
    std::vector<int64_t> made(boards.size());
    reason::run(*reasoner, boards,
                {.halting = reason::find_halting("halt"),
                 .max_steps = steps == 0 ? model.config.halt_max_steps : steps},
                [&](int64_t board, const reason::Answer& answer) {
                  std::copy(answer.tokens.begin(), answer.tokens.end(),
                            answers.begin() + board * model.config.seq_len);
                  made[static_cast<size_t>(board)] = answer.steps;
                });
    write(name,
          {{"name", name},
           {"kind", "solve"},
           {"inputs", to_json(model.config, in)},
           {"answer", answers},
           {"steps", made}},
          export_onnx(model, {.scope = OnnxScope::Solve, .steps = steps}).bytes);
  }

 private:
  void write(const std::string& name, const Json& json, const std::string& onnx) const {
    write_file_atomic(folder_ / (name + ".onnx"), onnx);
    write_file_atomic(folder_ / (name + ".json"), json.dump());
  }

  std::filesystem::path folder_;
};

/// Without noise, which would be other random numbers than ours.
Checkpoint small_model(model::ModelConfig config) {
  if (model::architecture(config).draws_noise()) config.noise_scale = 0;
  return store::random_checkpoint(config, 3);
}

/// Boards of the file that comes with the project, and no states.
Inputs demo_boards(int64_t count) {
  std::ifstream file("models/demo-sudoku.csv");
  std::string line;
  std::getline(file, line);
  Inputs in;
  while (in.boards() < count && std::getline(file, line)) {
    const std::string cells = line.substr(line.find(',') + 1, 81);
    std::vector<uint8_t> tokens;
    for (const char c : cells) tokens.push_back(static_cast<uint8_t>(c == '.' ? 1 : c - '0' + 1));
    in.tokens.push_back(std::move(tokens));
    in.puzzles.push_back(0);
    in.h.emplace_back();
    in.l.emplace_back();
  }
  return in;
}

void write_all(const std::filesystem::path& folder) {
  Cases cases(folder);
  for (const auto& named : simulate::testing::named_configs()) {
    const Checkpoint model = small_model(named.config);
    cases.add_step(named.name, model, random_inputs(model.config, 3), OnnxPrecision::Float32);
    // A scale of the whole tensor is that of a single board only for one board.
    cases.add_step(named.name + "-int8", model, random_inputs(model.config, 1),
                   OnnxPrecision::Int8);
    cases.add_step(named.name + "-int4", model, random_inputs(model.config, 3),
                   OnnxPrecision::Int4);
  }
  Checkpoint trained = store::load_checkpoint("models/sudoku-small.safetensors");
  const Inputs boards = demo_boards(3);
  cases.add_step("sudoku-small", trained, boards, OnnxPrecision::Float32);
  cases.add_solve("sudoku-small-solve", trained, boards, 0);
  trained.config.halt_confirm_steps = 1;
  cases.add_solve("sudoku-small-confirmed", trained, boards, 4);
  trained.config.halt_confirm_mode = model::HaltConfirm::Cumulative;
  trained.config.halt_rule = model::HaltRule::Lead;
  cases.add_solve("sudoku-small-lead", trained, boards, 4);
  trained.config.halt_rule = model::HaltRule::Never;
  cases.add_solve("sudoku-small-never", trained, boards, 2);
}

}  // namespace
}  // namespace driftless::exporter

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "onnx_reference: expected FOLDER\n");
    return 2;
  }
  try {
    driftless::exporter::write_all(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "onnx_reference: %s\n", error.what());
    return 1;
  }
  return 0;
}
