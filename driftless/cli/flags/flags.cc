// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/flags/flags.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <sstream>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"
#include "driftless/cli/data_folder.h"
#include "driftless/cli/manual/manual.h"

namespace driftless::cli {
namespace {

/// Says `expected` of a text that is not `good`.
template <class Good>
CLI::Validator validator(Good good, std::string expected, std::string name) {
  return {[good, expected = std::move(expected)](const std::string& text) -> std::string {
            return good(text) ? "" : "got '" + text + "', expected " + expected;
          },
          "", std::move(name)};
}

FlagText text_of(const CLI::Option& option) {
  FlagText text{.names = {},
                .value = option.get_items_expected_max() == 0 ? "" : option.get_type_name(),
                .help = option.get_description() +
                        (option.get_envname().empty() ? "" : " (or " + option.get_envname() + ")"),
                .is_required = option.get_required(),
                .is_repeated = option.get_items_expected_max() > 1,
                .has_optional_value = option.get_items_expected_min() == 0};
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  if (text.names.empty()) text.names.push_back(option.get_name(true));
  return text;
}

/// All but what has no group, which help does not show either.
VerbText text_of(const CLI::App& app) {
  VerbText text{.name = app.get_name(),
                .summary = app.get_description(),
                .footer = app.get_footer(),
                .places = {},
                .flags = {},
                .verbs = {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->nonpositional() ? text.flags : text.places).push_back(text_of(*option));
  }
  for (const CLI::App* verb : app.get_subcommands(nullptr)) {
    if (!verb->get_group().empty()) text.verbs.push_back(text_of(*verb));
  }
  return text;
}

/// What does not fit the number that a flag sets, which CLI11 would cut to its largest.
template <class Number>
void refuse_beyond(CLI::Option& option) {
  option.check(validator(
      [](const std::string& text) {
        Number value{};
        const char* const end = text.data() + text.size();
        const auto [stop, status] = std::from_chars(text.data(), end, value);
        return status == std::errc{} && stop == end;
      },
      "an integer of at most " + std::to_string(std::numeric_limits<Number>::max()), "fits"));
}

template <class Value>
void refuse_other_numbers(CLI::Option& option, const Value&) {
  if constexpr (std::is_same_v<Value, uint64_t>)
    refuse_beyond<uint64_t>(option);
  else if constexpr (std::is_same_v<Value, int64_t> ||
                     std::is_same_v<Value, std::optional<int64_t>> ||
                     std::is_same_v<Value, std::vector<int64_t>>)
    refuse_beyond<int64_t>(option);
}

/// A name that is given is a name.
void refuse_empty(CLI::Option& option) {
  option.check(validator([](const std::string& text) { return !text.empty(); },
                         "the name of a file", "named"));
}

std::vector<std::filesystem::path> paths_in(const std::filesystem::path& value) { return {value}; }

std::vector<std::filesystem::path> paths_in(const std::vector<std::string>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

Flag Flag::required() const {
  option_->required();
  return *this;
}

Flag Flag::shows_default() const {
  option_->capture_default_str();
  return *this;
}

Flag Flag::group(const char* heading) const {
  option_->group(heading);
  return *this;
}

Flag Flag::positive() const {
  constexpr int64_t kMostCount = 1'000'000'000;
  option_->check(validator(
      [](const std::string& text) {
        const auto value = parse_int(text);
        return value && *value >= 1 && *value <= kMostCount;
      },
      "an integer from 1 to " + std::to_string(kMostCount), "positive"));
  return *this;
}

Flag Flag::between(double low, double high) const {
  std::ostringstream expected;
  expected.precision(10);
  expected << "a number ";
  if (high == kNoLimit)
    expected << "of " << low << " or more";
  else
    expected << "from " << low << " to " << high;
  option_->check(validator(
      [low, high](const std::string& text) {
        const auto value = parse_number(text);
        return value && *value >= low && *value <= high;
      },
      expected.str(), "between"));
  return *this;
}

Flag Flag::one_of(const std::vector<std::string>& words) const {
  const std::vector<std::string_view> views(words.begin(), words.end());
  const bool has_commas = std::any_of(views.begin(), views.end(), [](std::string_view word) {
    return word.find(',') != std::string_view::npos;
  });
  const char* const separator = has_commas ? " | " : ",";
  option_->type_name("{" + join(views, separator) + "}");
  option_->check(CLI::Validator(
      [words, between = has_commas ? separator : ", "](const std::string& text) -> std::string {
        if (std::find(words.begin(), words.end(), text) != words.end()) return "";
        const std::vector<std::string_view> known(words.begin(), words.end());
        return "got '" + text + "', expected one of " + join(known, between) +
               did_you_mean(text, known);
      },
      "", "one_of"));
  return *this;
}

Flag Flag::or_environment(const char* variable) const {
  option_->envname(variable);
  return *this;
}

Flag Flag::refuses_files() const {
  option_->check(CLI::Validator(
      [name = option_->get_name()](const std::string& text) -> std::string {
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(or_bundled(text), ignored)) return "";
        return "got the file '" + text +
               "'; a list goes on up to the next flag, so name the file " + "before " + name +
               " or behind another flag";
      },
      "", "no_file"));
  return *this;
}

Flag Flag::excludes(const Flag& other) const {
  option_->excludes(other.option_);
  return *this;
}

Flag Flag::needs(const Flag& other) const {
  option_->needs(other.option_);
  return *this;
}

bool Flag::is_given() const { return option_->count() > 0; }

std::string Flag::name() const { return option_->get_name(); }

template <class Value>
Flag Verb::add_option(const char* name, Value& value, const std::string& help) const {
  CLI::Option* const option = app_->add_option(name, value, help);
  refuse_other_numbers(*option, value);
  return Flag(*option);
}

template Flag Verb::add_option(const char*, std::string&, const std::string&) const;
template Flag Verb::add_option(const char*, std::filesystem::path&, const std::string&) const;
template Flag Verb::add_option(const char*, std::vector<std::string>&, const std::string&) const;
template Flag Verb::add_option(const char*, int64_t&, const std::string&) const;
template Flag Verb::add_option(const char*, std::optional<int64_t>&, const std::string&) const;
template Flag Verb::add_option(const char*, std::vector<int64_t>&, const std::string&) const;
template Flag Verb::add_option(const char*, uint64_t&, const std::string&) const;
template Flag Verb::add_option(const char*, double&, const std::string&) const;
template Flag Verb::add_option(const char*, std::optional<double>&, const std::string&) const;

template <class Value>
Flag Verb::add_input(const char* name, Value& value, const std::string& help) const {
  CLI::Option* const option = app_->add_option(name, value, help);
  refuse_empty(*option);
  option->transform(CLI::Validator(
      [](std::string& path) {
        path = or_bundled(path);
        return std::string();
      },
      ""));
  const Flag flag(*option);
  also_uses({flag.name(), FileRole::Input, [&value] { return paths_in(value); }});
  return flag;
}

template <class Value>
Flag Verb::add_output(const char* name, Value& value, const std::string& help) const {
  const Flag flag = add_option(name, value, help);
  refuse_empty(*flag.option_);
  also_uses({flag.name(), FileRole::Output, [&value] { return paths_in(value); }});
  return flag;
}

template Flag Verb::add_input(const char*, std::string&, const std::string&) const;
template Flag Verb::add_input(const char*, std::filesystem::path&, const std::string&) const;
template Flag Verb::add_input(const char*, std::vector<std::string>&, const std::string&) const;
template Flag Verb::add_output(const char*, std::string&, const std::string&) const;

Flag Verb::add_json(std::string& file, const std::string& help) const {
  const Flag flag = add_output("--json", file, help);
  flag.option_->type_name("[FILE|-]");
  return flag;
}

void Verb::accepts_old(const char* name, const Flag& flag) const {
  app_->add_option_function<std::string>(
          name,
          [current = flag.option_](const std::string& text) {
            current->add_result(text);
            current->run_callback();
          },
          "earlier name of " + flag.name())
      ->group("");
}

void Verb::also_uses(FileArgument files) const { files_->push_back(std::move(files)); }

Flag Verb::add_switch(const char* name, bool& value, const std::string& help) const {
  return Flag(*app_->add_flag(name, value, help));
}

Flag Verb::add_switch(const char* name, std::function<void()> action,
                      const std::string& help) const {
  return Flag(*app_->add_flag_callback(name, std::move(action), help));
}

// Not by CLI11's get_option, which ends the process where an allocation fails.
Flag Verb::find(const char* name) const {
  for (CLI::Option* option : app_->get_options())
    if (option->check_name(name)) return Flag(*option);
  fail(ErrorCode::Internal, "no flag '", name, "'");
}

Verb Verb::add_verb(const char* name, const char* summary) const {
  return Verb(*app_->add_subcommand(name, summary));
}

void Verb::requires_verb() const { app_->require_subcommand(1); }

void Verb::allows_verb() const { app_->require_subcommand(0, 1); }

void Verb::example(const std::string& command) const { app_->footer("Example: " + command + "\n"); }

void Verb::note(const std::string& lines) const { app_->footer(app_->get_footer() + lines); }

void Verb::runs(std::function<void()> action) const {
  app_->callback([app = app_, files = files_, action = std::move(action)] {
    if (!app->get_subcommands().empty()) return;
    require_separate(*files);
    action();
  });
}

void Verb::hide() const { app_->group(""); }

VerbText Verb::program_text() const {
  const CLI::App* app = app_;
  while (app->get_parent() != nullptr) app = app->get_parent();
  return text_of(*app);
}

void reject(const std::string& argument, const std::string& message) {
  throw CLI::ValidationError(argument, message);
}

void end_with(int exit_code) { throw CLI::RuntimeError(exit_code); }

}  // namespace driftless::cli
