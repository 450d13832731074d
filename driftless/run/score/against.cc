// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/score/against.h"

#include <algorithm>
#include <map>
#include <string>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/json.h"
#include "driftless/base/text/quote.h"

namespace driftless::run {
namespace {

// As many as --steps takes.
constexpr uint64_t kMostSteps = 1'000'000'000;

bool is_prediction(const nlohmann::json& row) {
  const auto has = [&](const char* key, auto is_kind) {
    return row.contains(key) && (row[key].*is_kind)();
  };
  using Value = nlohmann::json;
  return row.is_object() && has("question", &Value::is_string) &&
         has("exact", &Value::is_boolean) && has("steps", &Value::is_number_unsigned) &&
         row["steps"].get<uint64_t>() >= 1 && row["steps"].get<uint64_t>() <= kMostSteps;
}

/// By question; those of one question in the order of the file.
std::map<std::string, std::vector<Earlier>> read_lines(const std::filesystem::path& path) {
  constexpr size_t kShown = 60;
  std::map<std::string, std::vector<Earlier>> boards;
  const std::string text = read_text(path);
  int64_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    const std::string where = path.string() + ":" + std::to_string(++number);
    const nlohmann::json row = parse_json(line, where);
    DRIFTLESS_REQUIRE(is_prediction(row), ErrorCode::BadFile, where, ": got ",
                      quote(line.substr(0, kShown)),
                      ", expected a line of eval --predictions, with question, exact and steps");
    boards[row["question"].get<std::string>()].push_back(
        {row["exact"].get<bool>(), row["steps"].get<int64_t>()});
  }
  return boards;
}

}  // namespace

std::vector<Earlier> read_earlier(const std::filesystem::path& predictions, const Boards& boards) {
  DRIFTLESS_REQUIRE(!boards.are_arc(), ErrorCode::InvalidArgument, "--against: got boards of ",
                    boards.task.name,
                    ", whose variants share their questions; expected another task");
  const std::map<std::string, std::vector<Earlier>> lines = read_lines(predictions);
  std::map<std::string, size_t> taken;
  std::vector<Earlier> earlier;
  earlier.reserve(boards.examples.size());
  for (const task::Example& example : boards.examples) {
    const std::string question = task::to_text(boards.task, example.input);
    const auto found = lines.find(question);
    DRIFTLESS_REQUIRE(found != lines.end(), ErrorCode::InvalidArgument, predictions.string(),
                      ": lacks board ", earlier.size() + 1, " of the data; got ", lines.size(),
                      " others, expected '", question,
                      "' too; give --data and --limit of the earlier evaluation");
    const std::vector<Earlier>& same = found->second;
    earlier.push_back(same[std::min(taken[question]++, same.size() - 1)]);
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
