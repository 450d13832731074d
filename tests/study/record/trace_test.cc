// SPDX-License-Identifier: Apache-2.0
// Traces of the reasoner whose steps can be computed by hand.
#include "driftless/study/record/trace.h"

#include <gtest/gtest.h>

#include "tests/study/linear_reasoner.h"
#include "tests/testing/expect_error.h"

namespace driftless::study {
namespace {

class Trace : public ::testing::Test {
 protected:
  [[nodiscard]] StudyInput input() const {
    return {.name = "trace",
            .config = testing::linear_config(),
            .task = task_,
            .examples = examples_,
            .calibration = testing::draw_from(examples_),
            .origin = testing::kOrigin,
            .batch = 2};
  }
  static Row row(const char* quantizer) {
    Row row;
    row.scheme.weights = quant::parse_quant_spec(quantizer);
    row.scheme.acts = row.scheme.weights;
    row.steps = 2;
    return resolve(row, testing::linear_config());
  }

  task::Task task_ = testing::linear_task();
  std::vector<task::Example> examples_ = {testing::example_of(0, 2), testing::example_of(2, 1),
                                          testing::example_of(1, 2)};
  // Float keeps its states; the other adds (1, 0) at every step.
  Backend backend_ = testing::linear_backend({.gain = 1}, {.gain = 1, .bias = {1, 0}});
};

TEST_F(Trace, SaysWhatEachSchemeDoesAtEachStep) {
  const std::vector<Row> rows = {row("none"), row("mxint4")};
  const Json trace = make_trace(rows, input(), backend_);
  require_trace(trace, "trace");
  EXPECT_EQ(trace.at("n"), 3);
  EXPECT_EQ(trace.at("steps"), 2);
  EXPECT_EQ(trace.at("schemes").at(1).at("weights"), "mxint4");
  ASSERT_EQ(trace.at("boards").size(), 3U);

  // Board 0 starts at (0, 1). Float: logits 0, 0, 1 at both steps, so the answer is 2, which is
  // right, with probability e / (2 + e) = 0.576 (digit 20 of 35, k), and the halt logit is -1.
  const Json& board = trace.at("boards").at(0);
  EXPECT_EQ(board.at("input"), "0");
  EXPECT_EQ(board.at("label"), "2");
  const Json& reference = board.at("runs").at(0);
  EXPECT_EQ(reference.at("answers"), Json({"2", ""}));
  EXPECT_EQ(reference.at("confidence"), Json({"k", "k"}));
  EXPECT_EQ(reference.at("outcome"), "ee");
  EXPECT_EQ(reference.at("divergence"), Json({0.0, 0.0}));
  EXPECT_EQ(reference.at("halt"), Json({-1.0, -1.0}));

  // The other: (1, 1), a tie that token 1 wins, then (2, 1). Probabilities e / (1 + 2 e) = 0.422
  // (15, f) and e^2 / (1 + e + e^2) = 0.665 (23, n).
  const Json& other = board.at("runs").at(1);
  EXPECT_EQ(other.at("answers"), Json({"1", ""}));
  EXPECT_EQ(other.at("confidence"), Json({"f", "n"}));
  EXPECT_EQ(other.at("outcome"), "ww");
  EXPECT_EQ(other.at("divergence"), Json({1.0, 2.0}));
  EXPECT_EQ(other.at("halt"), Json({0.0, 1.0}));

  // Displacements lie on the line (1, 0): 0 and 0 for float, 1 and 2 for the other. Both states
  // move by (1, 0) a step, so the residual is sqrt(2).
  const Json& basin = trace.at("basin");
  EXPECT_EQ(basin.at("share"), Json({1.0, 0.0}));
  EXPECT_EQ(basin.at("runs").at(0).at(0).at("x"), Json({0.0, 0.0}));
  EXPECT_EQ(basin.at("runs").at(1).at(2).at("x"), Json({1.0, 2.0}));
  EXPECT_EQ(basin.at("runs").at(1).at(2).at("residual"), Json({1.414, 1.414}));

  // Board 2 is in the second batch and starts at (1, 1): float answers 1, wrong.
  EXPECT_EQ(trace.at("boards").at(2).at("number"), 2);
  EXPECT_EQ(trace.at("boards").at(2).at("runs").at(0).at("outcome"), "ww");
}

TEST_F(Trace, RefusesWhatItCannotShow) {
  const std::vector<Row> none;
  EXPECT_ERROR(make_trace(none, input(), backend_), ErrorCode::InvalidArgument, "schemes");
  std::vector<Row> rows = {row("none"), row("mxint4")};
  rows[1].steps = 1;
  EXPECT_ERROR(make_trace(rows, input(), backend_), ErrorCode::InvalidArgument, "steps");
  rows[1].steps = 2;
  rows[1].rollouts = 2;
  EXPECT_ERROR(make_trace(rows, input(), backend_), ErrorCode::InvalidArgument, "rollouts");
  const Backend broken = testing::linear_backend(
      {.gain = 1}, {.gain = std::numeric_limits<float>::infinity(), .bias = {1, 0}});
  rows[1].rollouts = 0;
  EXPECT_ERROR(make_trace(rows, input(), broken), ErrorCode::Numeric, "not finite");
}

TEST_F(Trace, TheSchemaRefusesWhatAReaderWouldTripOver) {
  const std::vector<Row> rows = {row("none")};
  const Json good = make_trace(rows, input(), backend_);
  struct Case {
    const char* pointer;
    Json value;
    const char* word;
  };
  for (const Case& bad :
       {Case{"/trace", 2, "expected 1"}, Case{"/steps", "two", "type"},
        Case{"/boards/0/label", "12", "label"}, Case{"/boards/0/runs", Json::array(), "runs"},
        Case{"/boards/1/runs/0/answers", Json({"1"}), "answers"},
        Case{"/boards/1/runs/0/answers/0", "", "answers"},
        Case{"/boards/1/runs/0/confidence/1", "zz", "confidence"},
        Case{"/boards/1/runs/0/outcome", "e", "outcome"},
        Case{"/boards/1/runs/0/halt/0", nullptr, "type"}, Case{"/schemes/0/weights", 4, "type"},
        Case{"/basin/share", Json({1.0}), "share"}, Case{"/basin/runs", Json::array(), "runs"},
        Case{"/basin/runs/0/1/x", Json({1.0}), "basin: x"},
        Case{"/basin/runs/0/1/residual/0", nullptr, "type"}}) {
    Json trace = good;
    trace[Json::json_pointer(bad.pointer)] = bad.value;
    EXPECT_ERROR(require_trace(trace, "here"), ErrorCode::BadFile, bad.word);
  }
}

}  // namespace
}  // namespace driftless::study
