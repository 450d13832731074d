// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/torch/training_config.h"

#include <algorithm>
#include <array>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"

namespace driftless::store {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The digits that end right before `end`, or start at it.
std::string_view digits_before(std::string_view text, size_t end) {
  size_t start = end;
  while (start > 0 && is_digit(text[start - 1])) --start;
  return text.substr(start, end - start);
}
std::string_view digits_from(std::string_view text, size_t start) {
  size_t end = start;
  while (end < text.size() && is_digit(text[end])) ++end;
  return text.substr(start, end - start);
}

}  // namespace

std::optional<std::string> TrainingConfig::text(const std::string& key) const {
  const auto found = values_.find("arch." + key);
  if (found == values_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::optional<int64_t> TrainingConfig::integer(const std::string& key) const {
  const auto given = text(key);
  if (!given) return std::nullopt;
  const auto value = parse_int(*given);
  DRIFTLESS_REQUIRE(value, ErrorCode::BadConfig, where_, ": training configuration: arch.", key,
                    "; got ", quote(*given), ", expected an integer");
  return value;
}

std::optional<double> TrainingConfig::number(const std::string& key) const {
  const auto given = text(key);
  if (!given) return std::nullopt;
  const auto value = parse_number(*given);
  DRIFTLESS_REQUIRE(value, ErrorCode::BadConfig, where_, ": training configuration: arch.", key,
                    "; got ", quote(*given), ", expected a number");
  return value;
}

std::optional<bool> TrainingConfig::flag(const std::string& key) const {
  const auto given = text(key);
  if (!given) return std::nullopt;
  const bool is_true = *given == "true" || *given == "True";
  DRIFTLESS_REQUIRE(is_true || *given == "false" || *given == "False", ErrorCode::BadConfig, where_,
                    ": training configuration: arch.", key, "; got ", quote(*given),
                    ", expected true or false");
  return is_true;
}

bool TrainingConfig::is_null(const std::string& key) const {
  const auto found = values_.find("arch." + key);
  return found != values_.end() && found->second.empty();
}

std::string TrainingConfig::module() const {
  const std::string name = text("name").value_or("");
  return name.substr(0, name.find('@'));
}

std::string TrainingConfig::data_path() const {
  for (const char* const key : {"data_paths.0", "data_path", "dataset.data_path"}) {
    const auto found = values_.find(key);
    if (found != values_.end() && !found->second.empty()) return found->second;
  }
  return "";
}

std::optional<int64_t> TrainingConfig::cells_of_data() const {
  const std::string path = data_path();
  for (size_t i = path.rfind('/') + 1; i < path.size(); ++i) {
    if (path[i] != 'x') continue;
    const auto rows = parse_int(digits_before(path, i));
    const auto columns = parse_int(digits_from(path, i + 1));
    constexpr int64_t kMostSide = 256;
    if (rows && columns && *rows >= 2 && *columns >= 2 && *rows <= kMostSide &&
        *columns <= kMostSide)
      return *rows * *columns;
  }
  return std::nullopt;
}

const model::PublishedBoards* TrainingConfig::boards_of_data() const {
  std::string name = data_path();
  name.erase(0, name.rfind('/') + 1);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const model::PublishedBoards& boards : model::published_boards())
    if (name.find(boards.task) != std::string::npos) return &boards;
  return nullptr;
}

void TrainingConfig::read_halting(model::ModelConfig& config) const {
  if (const auto has_one_logit = flag("no_ACT_continue")) {
    const auto rule = *has_one_logit ? model::HaltRule::Logit : model::HaltRule::Lead;
    if (rule != model::architecture(config).halting) config.halt_rule = rule;
  }
  if (flag("disable_act_halt").value_or(false)) config.halt_rule = model::HaltRule::Never;
  config.halt_threshold = number("halt_threshold").value_or(config.halt_threshold);
  config.halt_confirm_steps = integer("halt_confirm_steps").value_or(config.halt_confirm_steps);
  constexpr std::array<std::string_view, 3> kCumulative = {"cumulative", "accumulate", "total"};
  const std::string mode = text("halt_confirm_mode").value_or("consecutive");
  if (std::find(kCumulative.begin(), kCumulative.end(), mode) != kCumulative.end())
    config.halt_confirm_mode = model::HaltConfirm::Cumulative;
}

}  // namespace driftless::store
