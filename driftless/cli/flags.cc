// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/flags.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "driftless/base/text.h"

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
  option_->check(validator(
      [](const std::string& text) {
        const auto value = parse_int(text);
        return value && *value >= 1;
      },
      "an integer of 1 or more", "positive"));
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
  return Flag(*app_->add_option(name, value, help));
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

Flag Verb::add_switch(const char* name, bool& value, const std::string& help) const {
  return Flag(*app_->add_flag(name, value, help));
}

Flag Verb::add_switch(const char* name, std::function<void()> action,
                      const std::string& help) const {
  return Flag(*app_->add_flag_callback(name, std::move(action), help));
}

Verb Verb::add_verb(const char* name, const char* summary) const {
  return Verb(*app_->add_subcommand(name, summary));
}

void Verb::requires_verb() const { app_->require_subcommand(1); }

void Verb::allows_verb() const { app_->require_subcommand(0, 1); }

bool Verb::has_verb() const { return !app_->get_subcommands().empty(); }

void Verb::example(const std::string& command) const { app_->footer("Example: " + command + "\n"); }

void Verb::runs(std::function<void()> action) const { app_->callback(std::move(action)); }

void reject(const std::string& argument, const std::string& message) {
  throw CLI::ValidationError(argument, message);
}

void end_with(int exit_code) { throw CLI::RuntimeError(exit_code); }

}  // namespace driftless::cli
