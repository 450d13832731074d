// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/against.h"

#include <map>
#include <string>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/json.h"

namespace driftless::run {
namespace {

struct Earlier {
  bool is_exact = false;
  int64_t steps = 0;
};

std::map<std::string, Earlier> read_earlier(const std::filesystem::path& path) {
  std::map<std::string, Earlier> boards;
  const std::string text = read_text(path);
  int64_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    const std::string where = path.string() + ":" + std::to_string(++number);
    const nlohmann::json row = parse_json(line, where);
    const bool is_prediction = row.is_object() && row.contains("question") &&
                               row["question"].is_string() && row.contains("exact") &&
                               row["exact"].is_boolean() && row.contains("steps") &&
                               row["steps"].is_number_unsigned();
    DRIFTLESS_REQUIRE(is_prediction, ErrorCode::BadFile, where,
                      ": expected a line of eval --predictions, with question, exact and steps");
    boards[row["question"].get<std::string>()] = {row["exact"].get<bool>(),
                                                  row["steps"].get<int64_t>()};
  }
  return boards;
}

}  // namespace

Against compare_with(const std::filesystem::path& predictions, const Boards& boards,
                     const Evaluation& result) {
  DRIFTLESS_REQUIRE(!boards.are_arc(), ErrorCode::InvalidArgument,
                    "--against: variants of ARC share their questions; expected another task");
  const std::map<std::string, Earlier> earlier = read_earlier(predictions);
  Against against;
  int64_t steps = 0;
  int64_t earlier_steps = 0;
  for (size_t i = 0; i < boards.examples.size(); ++i) {
    const task::Example& example = boards.examples[i];
    const std::string question = task::to_text(boards.task, example.input);
    const auto found = earlier.find(question);
    DRIFTLESS_REQUIRE(found != earlier.end(), ErrorCode::InvalidArgument, predictions.string(),
                      ": has no board ", i + 1, " of the data, ", question,
                      "; expected predictions of the same boards");
    const reason::Answer& answer = result.answers[i];
    const bool is_exact = boards.task.check(example, answer.tokens) == task::Outcome::Exact;
    against.exact.lost += found->second.is_exact && !is_exact ? 1 : 0;
    against.exact.gained += !found->second.is_exact && is_exact ? 1 : 0;
    ++against.exact.n;
    steps += answer.steps;
    earlier_steps += found->second.steps;
  }
  if (earlier_steps > 0)
    against.steps_ratio = static_cast<double>(steps) / static_cast<double>(earlier_steps);
  return against;
}

Json against_json(const Against& against) {
  const task::Interval interval = against.exact.interval();
  return {{"lost", against.exact.lost},
          {"gained", against.exact.gained},
          {"difference", against.exact.difference()},
          {"low", interval.low},
          {"high", interval.high},
          {"p_value", against.exact.p_value()},
          {"steps_ratio", against.steps_ratio}};
}

}  // namespace driftless::run
