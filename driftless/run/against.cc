// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/against.h"

#include <map>
#include <string>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/json.h"

namespace driftless::run {
namespace {

std::map<std::string, Earlier> read_lines(const std::filesystem::path& path) {
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

std::vector<Earlier> read_earlier(const std::filesystem::path& predictions, const Boards& boards) {
  DRIFTLESS_REQUIRE(!boards.are_arc(), ErrorCode::InvalidArgument,
                    "--against: variants of ARC share their questions; expected another task");
  const std::map<std::string, Earlier> lines = read_lines(predictions);
  std::vector<Earlier> earlier;
  earlier.reserve(boards.examples.size());
  for (const task::Example& example : boards.examples) {
    const std::string question = task::to_text(boards.task, example.input);
    const auto found = lines.find(question);
    DRIFTLESS_REQUIRE(found != lines.end(), ErrorCode::InvalidArgument, predictions.string(),
                      ": lacks board ", earlier.size() + 1, " of the data, '", question,
                      "'; expected predictions of the same boards");
    earlier.push_back(found->second);
  }
  return earlier;
}

Against compare(std::span<const Earlier> earlier, const Boards& boards, const Evaluation& result) {
  Against against{.exact = {.n = std::ssize(earlier)}};
  int64_t steps = 0;
  int64_t earlier_steps = 0;
  for (size_t i = 0; i < earlier.size(); ++i) {
    const reason::Answer& answer = result.answers[i];
    const bool is_exact =
        boards.task.check(boards.examples[i], answer.tokens) == task::Outcome::Exact;
    against.exact.lost += earlier[i].is_exact && !is_exact ? 1 : 0;
    against.exact.gained += !earlier[i].is_exact && is_exact ? 1 : 0;
    steps += answer.steps;
    earlier_steps += earlier[i].steps;
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
