// SPDX-License-Identifier: Apache-2.0
// Our side of race.mjs: steps of a model on our paths, when asked to, so that another program can
// take turns with us.
//
//   step_server MODEL BOARDS
//
// First it writes a line of JSON: the machine, the boards, and what each path and our simulation
// of each precision of `export onnx` say of the first board after one step. Then it answers each
// line "BATCH THREADS STEPS PATH" with the seconds of that many steps, as a list.
#include <cstdio>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/machine.h"
#include "driftless/bench/onednn_gemm.h"
#include "driftless/bench/race.h"
#include "driftless/bench/steps.h"
#include "driftless/export/onnx/export_onnx.h"
#include "driftless/integer/kernels/kernel_set.h"
#include "driftless/model/shapes.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/run/boards.h"
#include "driftless/simulate/cpu_reasoner.h"

namespace driftless::bench {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostBoards = 8;

/// What a reasoner says of a board after one step.
std::vector<float> logits_of(reason::Reasoner& reasoner, const reason::Board& board) {
  reasoner.reset(0, board);
  const int64_t slot = 0;
  reasoner.step({&slot, 1});
  const auto logits = reasoner.read(0).logits;
  return {logits.begin(), logits.end()};
}

class Server {
 public:
  Server(const std::string& model, const std::string& boards)
      : checkpoint_(store::load_checkpoint(model)), paths_(step_paths(checkpoint_)) {
    examples_ = run::read_boards(task::find_task(checkpoint_.config.task),
                                 {.path = boards, .limit = kMostBoards});
    DRIFTLESS_REQUIRE(!examples_.empty(), ErrorCode::BadFile, boards, ": no boards");
    for (const task::Example& example : examples_)
      boards_.push_back({.tokens = example.input, .puzzle = example.puzzle});
  }

  [[nodiscard]] Json greeting() const {
    Json json = {{"processor", processor_name()},
                 {"compiler", compiler_name()},
                 {"kernels", integer::kernels().name},
                 {"rows", model::positions_count(checkpoint_.config)},
                 {"cells", checkpoint_.config.seq_len},
                 {"width", checkpoint_.config.hidden_size},
                 {"operations", simulate::step_flops(checkpoint_.config)}};
    for (const task::Example& example : examples_) json["boards"].push_back(example.input);
    for (const Path& path : paths_) {
      json["logits"][path.name] = logits_of(*path.make({}), boards_[0]);
      if (path.reference) json["simulated"][path.name] = logits_of(*path.reference({}), boards_[0]);
    }
    for (const auto& precision : exporter::kOnnxPrecisionNames)
      json["peers"][std::string(precision.name)] = peer_logits(precision.value);
    return json;
  }

  std::vector<double> time(const std::string& name, const StepShape& shape, int64_t steps) {
    const Thinking thinking = reasoner_for(name, shape);
    std::vector<double> seconds;
    for (int64_t i = 0; i < steps; ++i)
      seconds.push_back(seconds_of([&] { thinking.reasoner->step(thinking.slots); }));
    return seconds;
  }

 private:
  [[nodiscard]] std::vector<float> peer_logits(exporter::OnnxPrecision precision) const {
    const exporter::OnnxQuantizers quantizers = exporter::onnx_quantizers(precision);
    const quant::QuantPlan plan =
        quant::resolve({.weights = quant::parse_quant_spec(quantizers.weights),
                        .acts = quant::parse_quant_spec(quantizers.acts)},
                       reason::linear_layers(checkpoint_.config));
    const auto reasoner = simulate::make_cpu_reasoner(checkpoint_, {.slots = 1, .plan = &plan});
    return logits_of(*reasoner, boards_[0]);
  }

  struct Thinking {
    reason::Reasoner* reasoner;
    std::vector<int64_t> slots;
  };

  Thinking reasoner_for(const std::string& name, const StepShape& shape) {
    std::vector<int64_t> slots(static_cast<size_t>(shape.batch));
    std::iota(slots.begin(), slots.end(), int64_t{0});
    auto& reasoner =
        reasoners_[name + " " + std::to_string(shape.batch) + " " + std::to_string(shape.threads)];
    if (reasoner != nullptr) return {reasoner.get(), slots};
    for (const Path& path : paths_)
      if (path.name == name) reasoner = path.make(shape);
    DRIFTLESS_REQUIRE(reasoner != nullptr, ErrorCode::InvalidArgument, "unknown path; got '", name,
                      "'");
    for (const int64_t slot : slots)
      reasoner->reset(slot, boards_[static_cast<size_t>(slot) % boards_.size()]);
    return {reasoner.get(), slots};
  }

  store::Checkpoint checkpoint_;
  std::vector<Path> paths_;
  std::vector<task::Example> examples_;
  std::vector<reason::Board> boards_;
  std::map<std::string, std::unique_ptr<reason::Reasoner>> reasoners_;
};

void serve(const std::string& model, const std::string& boards) {
  keep_onednn_to_vectors();
  Server server(model, boards);
  std::cout << server.greeting() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    StepShape shape;
    int64_t steps = 0;
    std::string path;
    words >> shape.batch >> shape.threads >> steps >> std::ws;
    std::getline(words, path);
    std::cout << Json(server.time(path, shape, steps)) << std::endl;
  }
}

}  // namespace
}  // namespace driftless::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "step_server: expected MODEL BOARDS\n");
    return 2;
  }
  try {
    driftless::bench::serve(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "step_server: %s\n", error.what());
    return 1;
  }
  return 0;
}
