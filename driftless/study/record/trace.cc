// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/record/trace.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"
#include "driftless/reason/boards.h"
#include "driftless/reason/readout.h"
#include "driftless/study/lockstep.h"
#include "driftless/study/measure/basin.h"
#include "driftless/study/measure/metrics.h"
#include "driftless/study/measure/trajectory.h"
#include "driftless/study/record/rounded.h"

namespace driftless::study {
namespace {

/// The probability of the largest logit of each cell as a base-36 digit.
std::string confidence_of(const reason::Readout& readout, int64_t vocab_size) {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::string text;
  const auto width = static_cast<size_t>(vocab_size);
  for (size_t first = 0; first < readout.logits.size(); first += width) {
    const std::span<const float> logits = readout.logits.subspan(first, width);
    const double largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(logit - largest);
    text += kDigits[static_cast<size_t>(std::lround(35 / sum))];
  }
  return text;
}

char outcome_letter(task::Outcome outcome) {
  switch (outcome) {
    case task::Outcome::Exact:
      return 'e';
    case task::Outcome::Accepted:
      return 'a';
    case task::Outcome::Wrong:
      return 'w';
  }
  return 'w';
}

/// One board under one scheme.
struct Run {
  Json answers = Json::array();
  Json confidence = Json::array();
  Json divergence = Json::array();
  Json halt = Json::array();
  std::string outcome;
  std::string before;  // the answer after the step before

  [[nodiscard]] Json json() const {
    return {{"answers", answers},
            {"confidence", confidence},
            {"outcome", outcome},
            {"divergence", divergence},
            {"halt", halt}};
  }
};

class Tracer {
 public:
  Tracer(std::span<const Row> rows, const StudyInput& input, const Backend& backend)
      : input_(input),
        steps_(rows[0].steps),
        config_(vary(input.config, rows[0])),
        basin_(rows.size()) {
    reference_ = backend.make({.config = config_, .slots = input.batch});
    const std::vector<quant::QuantPlan> plans = plans_of(rows, input, backend);
    own_.reserve(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const model::ModelConfig config = vary(input.config, rows[i]);
      const bool is_reference = plans[i].is_float() && config == config_;
      own_.push_back(is_reference ? nullptr
                                  : backend.make({.config = config,
                                                  .plan = plans[i],
                                                  .slots = input.batch,
                                                  .execution = rows[i].execution}));
    }
  }

  /// The boards of one batch, in their order.
  std::vector<Json> run(std::span<const task::Example> examples, int64_t first_board) {
    const std::vector<reason::Board> boards = reason::boards_of(examples, input_.seed, first_board);
    std::vector<int64_t> slots(boards.size());
    std::iota(slots.begin(), slots.end(), 0);
    for_each_model([&](reason::Reasoner& model) {
      for (const int64_t slot : slots) model.reset(slot, boards[static_cast<size_t>(slot)]);
    });
    const auto kept =
        static_cast<size_t>(std::clamp<int64_t>(kBasinBoards - first_board, 0, std::ssize(boards)));
    for (size_t board = 0; board < kept; ++board)
      for (size_t i = 0; i < own_.size(); ++i)
        basin_.start(i, model_of(i).states(static_cast<int64_t>(board)));
    std::vector<std::vector<Run>> runs(boards.size(), std::vector<Run>(own_.size()));
    for (int64_t step = 0; step < steps_; ++step) {
      for_each_model([&](reason::Reasoner& model) { model.step(slots); });
      for (const int64_t slot : slots)
        for (size_t i = 0; i < own_.size(); ++i)
          observe(model_of(i), boards[static_cast<size_t>(slot)].number, slot,
                  examples[static_cast<size_t>(slot)], runs[static_cast<size_t>(slot)][i]);
      for (size_t board = 0; board < kept; ++board)
        for (size_t i = 0; i < own_.size(); ++i)
          basin_.add(i, static_cast<size_t>(first_board) + board,
                     model_of(i).states(static_cast<int64_t>(board)));
    }
    for (size_t board = 0; board < kept; ++board)
      basin_.finish(static_cast<size_t>(first_board) + board,
                    reference_->states(static_cast<int64_t>(board)).l);
    std::vector<Json> result;
    result.reserve(boards.size());
    for (size_t board = 0; board < boards.size(); ++board)
      result.push_back(board_json(examples[board], boards[board].number, runs[board]));
    return result;
  }

  [[nodiscard]] Json basin() const { return basin_.json(); }

 private:
  [[nodiscard]] const reason::Reasoner& model_of(size_t scheme) const {
    return own_[scheme] ? *own_[scheme] : *reference_;
  }

  template <class Action>
  void for_each_model(const Action& action) {
    action(*reference_);
    for (const auto& model : own_)
      if (model) action(*model);
  }

  void observe(const reason::Reasoner& model, int64_t number, int64_t slot,
               const task::Example& example, Run& run) const {
    const reason::Readout readout = model.read(slot);
    reason::require_finite(readout, number, std::ssize(run.outcome) + 1);
    const std::vector<uint8_t> answer = reason::answer_of(readout, config_.vocab_size);
    const std::string text = task::to_text(input_.task, answer);
    run.answers.push_back(text == run.before ? "" : text);
    run.before = text;
    run.confidence.push_back(confidence_of(readout, config_.vocab_size));
    run.outcome += outcome_letter(input_.task.check(example, answer));
    run.divergence.push_back(rounded(distance(model.states(slot).l, reference_->states(slot).l)));
    run.halt.push_back(rounded(readout.halt_logit));
  }

  [[nodiscard]] Json board_json(const task::Example& example, int64_t number,
                                const std::vector<Run>& runs) const {
    Json board = {{"number", number},
                  {"input", task::to_text(input_.task, example.input)},
                  {"label", task::to_text(input_.task, example.label)},
                  {"runs", Json::array()}};
    for (const Run& run : runs) board["runs"].push_back(run.json());
    return board;
  }

  const StudyInput& input_;
  int64_t steps_;
  model::ModelConfig config_;
  std::unique_ptr<reason::Reasoner> reference_;
  std::vector<std::unique_ptr<reason::Reasoner>> own_;  // null where the reference does it
  Basin basin_;
};

void require_traceable(std::span<const Row> rows, const StudyInput& input) {
  DRIFTLESS_REQUIRE(!rows.empty() && !input.examples.empty() && input.batch >= 1,
                    ErrorCode::InvalidArgument, "trace: schemes, boards and batch; got ",
                    rows.size(), ", ", input.examples.size(), " and ", input.batch,
                    ", expected at least one each");
  for (const Row& row : rows)
    DRIFTLESS_REQUIRE(row.steps == rows[0].steps && row.steps >= 1 && row.rollouts == 0,
                      ErrorCode::InvalidArgument, "trace: steps; got ", rows[0].steps, " and ",
                      row.steps, ", expected the same number everywhere and no rollouts");
}

/// Throws a JSON exception where a key is missing or of another type.
void require_board(const Json& board, int64_t steps, size_t schemes, std::string_view where) {
  const size_t cells = board.at("input").get<std::string>().size();
  const auto require = [&](bool is_sound, const char* what) {
    DRIFTLESS_REQUIRE(is_sound, ErrorCode::BadFile, where, ": trace: board ",
                      board.at("number").dump(), ": ", what, "; expected one for each of ", steps,
                      " steps, ", schemes, " schemes, ", cells, " cells");
  };
  require(board.at("label").get<std::string>().size() == cells, "label");
  require(board.at("runs").size() == schemes, "runs");
  for (const Json& run : board.at("runs")) {
    for (const char* const key : {"answers", "confidence"}) {
      require(std::ssize(run.at(key)) == steps, key);
      for (const Json& text : run.at(key)) {
        const size_t size = text.get<std::string>().size();
        require(size == cells || (size == 0 && text != run.at(key).front()), key);
      }
    }
    require(std::ssize(run.at("outcome").get<std::string>()) == steps, "outcome");
    for (const char* const key : {"divergence", "halt"}) {
      require(std::ssize(run.at(key)) == steps, key);
      for (const Json& value : run.at(key)) static_cast<void>(value.get<double>());
    }
  }
}

}  // namespace

Json make_trace(std::span<const Row> rows, const StudyInput& input, const Backend& backend) {
  require_traceable(rows, input);
  const Origin& origin = input.origin;
  Json trace = {{"trace", kTraceSchema},
                {"version", origin.version},
                {"checkpoint", {{"file", origin.model_file}, {"sha256", origin.model_sha256}}},
                {"data", {{"file", origin.data_file}, {"sha256", origin.data_sha256}}},
                {"task", input.task.name},
                {"alphabet", input.task.alphabet},
                {"seed", input.seed},
                {"steps", rows[0].steps},
                {"n", input.examples.size()},
                {"schemes", Json::array()},
                {"boards", Json::array()}};
  for (const Row& row : rows) trace["schemes"].push_back(row_json(input.origin, row));
  const bool is_native = std::any_of(
      rows.begin(), rows.end(), [](const Row& row) { return row.execution == Execution::Native; });
  if (is_native || origin.backend != "cpu")
    trace["backend"] = is_native ? "native" : origin.backend;
  if (!origin.flags.empty()) trace["flags"] = origin.flags;
  Tracer tracer(rows, input, backend);
  const int64_t boards = std::ssize(input.examples);
  for (int64_t first = 0; first < boards; first += input.batch) {
    const int64_t count = std::min(input.batch, boards - first);
    for (Json& board : tracer.run(
             input.examples.subspan(static_cast<size_t>(first), static_cast<size_t>(count)), first))
      trace["boards"].push_back(std::move(board));
  }
  trace["basin"] = tracer.basin();
  return trace;
}

void require_trace(const Json& trace, std::string_view where) {
  DRIFTLESS_REQUIRE(trace.value("trace", Json()) == kTraceSchema, ErrorCode::BadFile, where,
                    ": trace; got ", trace.value("trace", Json()).dump(), ", expected ",
                    kTraceSchema);
  try {
    const int64_t steps = trace.at("steps");
    const size_t schemes = trace.at("schemes").size();
    for (const char* const key : {"version", "task", "alphabet"})
      static_cast<void>(trace.at(key).get<std::string>());
    for (const char* const key : {"checkpoint", "data"})
      static_cast<void>(trace.at(key).at("file").get<std::string>());
    for (const Json& scheme : trace.at("schemes"))
      for (const char* const key : {"weights", "acts"})
        static_cast<void>(scheme.at(key).get<std::string>());
    for (const Json& board : trace.at("boards")) require_board(board, steps, schemes, where);
    require_basin(trace.at("basin"), steps, schemes, where);
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::BadFile, where, ": trace: a key is missing or of another type; got ",
         quote(error.what()));
  }
}

}  // namespace driftless::study
