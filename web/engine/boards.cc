// SPDX-License-Identifier: Apache-2.0
#include "web/engine/boards.h"

#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/rng.h"
#include "driftless/base/text/json.h"
#include "driftless/base/text/quote.h"
#include "driftless/task/table.h"

namespace driftless::web {
namespace {

using Json = nlohmann::json;
using Tokens = std::vector<uint8_t>;

Json to_json(const task::Example& example) {
  return {{"input", example.input}, {"label", example.label}, {"rating", example.rating}};
}

Json read_board(const task::Task& task, const Json& request) {
  const auto solve_line = task::need(task, &task::Task::solve_line, "board", "boards on one line");
  return to_json(solve_line(request.at("text").get<std::string>()));
}

Json make_board(const task::Task& task, const Json& request) {
  const task::Generator* const generator =
      task::need(task, &task::Task::generator, "board", "generator");
  const Json& asked = request.at("values");
  DRIFTLESS_REQUIRE(asked.empty() || asked.size() == generator->options.size(),
                    ErrorCode::InvalidArgument, "board: values; got ", asked.size(),
                    ", expected none or ", generator->options.size());
  std::vector<int64_t> values;
  for (size_t i = 0; i < asked.size(); ++i)
    values.push_back(asked[i].is_null() ? generator->options[i].usual : asked[i].get<int64_t>());
  Rng rng(request.at("seed").get<uint64_t>());
  return to_json(
      task::generate(task, {.cells = request.at("cells").get<int64_t>(), .values = values}, rng));
}

Json judge(const task::Task& task, const Json& request) {
  const task::Example example{.name = {},
                              .input = request.at("input").get<Tokens>(),
                              .label = request.at("label").get<Tokens>()};
  const auto answer = request.at("answer").get<Tokens>();
  return {{"solved", task.check(example, answer) != task::Outcome::Wrong}};
}

Json list_tasks() {
  Json all = Json::array();
  for (const task::Task& task : task::tasks()) {
    Json options = Json::array();
    if (task.generator != nullptr)
      for (const task::GeneratorOption& option : task.generator->options)
        options.push_back({{"name", option.name}, {"help", option.help}});
    all.push_back({{"name", task.name},
                   {"alphabet", task.alphabet},
                   {"sample", task.sample},
                   {"options", options}});
  }
  return all;
}

}  // namespace

std::string answer_request(std::string_view text) {
  const Json request = parse_json(text, "request");
  const auto ask = request.at("ask").get<std::string>();
  if (ask == "tasks") return list_tasks().dump();
  const task::Task& task = task::find_task(request.at("task").get<std::string>());
  if (ask == "read") return read_board(task, request).dump();
  if (ask == "make") return make_board(task, request).dump();
  DRIFTLESS_REQUIRE(ask == "judge", ErrorCode::InvalidArgument, "request: unknown; got ",
                    quote(ask), ", expected tasks, read, make or judge");
  return judge(task, request).dump();
}

}  // namespace driftless::web
