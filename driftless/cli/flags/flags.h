// SPDX-License-Identifier: Apache-2.0
// Verbs of the command line and their arguments. CLI11 parses them; it takes longer to compile than
// anything of ours, so only flags.cc and main.cc see it.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "driftless/cli/flags/file_roles.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace driftless::cli {

struct VerbText;  // manual.h

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// A handle on an argument of a verb: an option, a switch, or a place where the name has no dashes.
class Flag {
 public:
  explicit Flag(CLI::Option& option) : option_(&option) {}

  Flag required() const;
  Flag shows_default() const;
  Flag group(const char* heading) const;
  Flag positive() const;  ///< an integer of 1 to 10^9
  Flag between(double low, double high) const;
  Flag one_of(const std::vector<std::string>& words) const;  ///< which help shows
  /// The variable's value where the flag is not given; help names it.
  Flag or_environment(const char* variable) const;
  /// Of a list, which goes on up to the next flag: files, which belong to the place behind it.
  Flag refuses_files() const;
  Flag excludes(const Flag& other) const;
  Flag needs(const Flag& other) const;

  [[nodiscard]] bool is_given() const;
  [[nodiscard]] std::string name() const;

 private:
  friend class Verb;
  CLI::Option* option_;
};

/// The names of a table's rows, for one_of().
template <class Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  names.reserve(std::size(rows));
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

/// A handle on a verb, such as eval, or data generate.
class Verb {
 public:
  explicit Verb(CLI::App& app)
      : app_(&app), files_(std::make_shared<std::vector<FileArgument>>()) {}

  /// What is given replaces `value`, which must live until the verb has run. For the types that
  /// flags.cc lists.
  template <class Value>
  Flag add_option(const char* name, Value& value, const std::string& help) const;
  /// The same for files and folders that the verb reads (see or_bundled), or a file that it writes.
  /// Before the verb runs, require_separate looks at them all; "" is no file.
  template <class Value>
  Flag add_input(const char* name, Value& value, const std::string& help) const;
  template <class Value>
  Flag add_output(const char* name, Value& value, const std::string& help) const;
  /// --json [FILE|-]. Without FILE it is "-", standard output (see with_json_values).
  Flag add_json(std::string& file, const std::string& help) const;
  /// An earlier name of an argument, which is accepted but not shown.
  void accepts_old(const char* name, const Flag& flag) const;
  /// Files that the verb reads or writes beside those that the arguments name.
  void also_uses(FileArgument files) const;
  Flag add_switch(const char* name, bool& value, const std::string& help) const;
  Flag add_switch(const char* name, std::function<void()> action, const std::string& help) const;
  /// An argument that was added before.
  [[nodiscard]] Flag find(const char* name) const;

  /// A verb below this one, of which one must be given, or may.
  [[nodiscard]] Verb add_verb(const char* name, const char* summary) const;
  void requires_verb() const;
  void allows_verb() const;

  /// Ends the help with an example that a user can paste.
  void example(const std::string& command) const;
  /// Lines of help behind the example.
  void note(const std::string& lines) const;
  /// What to do, unless a verb below this one is given.
  void runs(std::function<void()> action) const;

  void hide() const;  ///< from help, the manual and completions
  /// What help tells of the whole program, this verb's and all others.
  [[nodiscard]] VerbText program_text() const;

 private:
  CLI::App* app_;
  std::shared_ptr<std::vector<FileArgument>> files_;
};

/// Wrong usage of an argument, found after parsing.
[[noreturn]] void reject(const std::string& argument, const std::string& message);

/// Ends the program; all there is to say has been said.
[[noreturn]] void end_with(int exit_code);

}  // namespace driftless::cli
