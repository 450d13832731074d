// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/manual/manual.h"

#include <string_view>

namespace driftless::cli {
namespace {

/// Text that roff prints as it is: no escapes, and no requests at the start of a line.
std::string roff(std::string_view text) {
  std::string out;
  bool is_line_start = true;
  for (const char c : text) {
    if (is_line_start && (c == '.' || c == '\'')) out += "\\&";
    is_line_start = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string without_end(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return std::string(text);
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }

/// "MODEL", "[BOARD]", "RESULTS ...".
std::string place_name(const FlagText& place) {
  const std::string name = "\\fI" + roff(place.names.front()) + "\\fR";
  const std::string shown = place.is_repeated ? name + " ..." : name;
  return place.is_required ? shown : "[" + shown + "]";
}

std::string flag_line(const FlagText& flag) {
  std::string line;
  for (const std::string& name : flag.names) line += (line.empty() ? "" : ", ") + bold(name);
  if (flag.value.empty()) return line;
  std::string value = "\\fI" + roff(flag.value) + "\\fR" + (flag.is_repeated ? " ..." : "");
  return line + " " + (flag.has_optional_value ? "[" + value + "]" : value);
}

void add_argument(std::string& page, const std::string& name, const FlagText& flag) {
  page += ".TP\n" + name + "\n" + roff(flag.help) + (flag.is_required ? " (required)" : "") + "\n";
}

void add_arguments(std::string& page, const VerbText& verb) {
  for (const FlagText& place : verb.places) add_argument(page, place_name(place), place);
  for (const FlagText& flag : verb.flags) {
    if (flag.names.front() != "--help") add_argument(page, flag_line(flag), flag);
  }
}

void add_verb(std::string& page, const VerbText& verb, const std::string& before) {
  const std::string name = before + " " + verb.name;
  page += ".SS " + name + "\n" + roff(verb.summary) + ".\n.PP\n" + bold(name);
  page += verb.verbs.empty() ? " [\\fIFLAGS\\fR]" : " \\fIVERB\\fR";
  for (const FlagText& place : verb.places) page += " " + place_name(place);
  page += "\n";
  add_arguments(page, verb);
  if (!verb.footer.empty()) page += ".PP\n.nf\n" + roff(without_end(verb.footer)) + "\n.fi\n";
  for (const VerbText& inner : verb.verbs) add_verb(page, inner, name);
}

std::string environment() {
  std::string text = ".SH ENVIRONMENT\n";
  for (const EnvironmentText& variable : kEnvironment)
    text += ".TP\n" + bold(variable.name) + "\n" + roff(variable.help) + "\n";
  return text;
}

constexpr const char* kEnd = R"(.SH EXIT STATUS
0 done, 1 a board is not solved (solve \-\-check), 2 wrong usage, 10 invalid argument, 11 bad configuration, 12 bad file, 13 unsupported, 14
cannot read or write, 15 a number that is not finite, 16 internal error, 130 stopped with Ctrl\-C.
.SH FILES
.I share/driftless/models
and
.I share/driftless/recipes
beside the folder of the program.
)";

}  // namespace

std::string man_page(const VerbText& program, const std::string& version) {
  const std::string& name = program.name;
  const std::string prefix = name + ": ";
  const bool is_named = program.summary.starts_with(prefix);
  std::string page = ".TH DRIFTLESS 1 \"\" \"" + name + " " + version + "\" \"User Commands\"\n";
  page += ".SH NAME\n" + name + " \\- " +
          roff(is_named ? program.summary.substr(prefix.size()) : program.summary) + "\n";
  page += ".SH SYNOPSIS\n" + bold(name) + " \\fIVERB\\fR [\\fIARGUMENTS\\fR]\n";
  page += ".SH FLAGS\nEvery verb has " + bold("--help") + ".\n";
  add_arguments(page, program);
  page += ".SH VERBS\n";
  for (const VerbText& verb : program.verbs) add_verb(page, verb, name);
  return page + environment() + kEnd;
}

}  // namespace driftless::cli
