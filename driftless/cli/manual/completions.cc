// SPDX-License-Identifier: Apache-2.0
// Each script finds the verb that the words so far have reached, such as "driftless codec error",
// and offers what that verb has.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/cli/manual/manual.h"

namespace driftless::cli {
namespace {

struct VerbPlace {
  std::string path;  // "driftless codec error"
  const VerbText* verb;
};

void add_places(const VerbText& verb, const std::string& path, std::vector<VerbPlace>& places) {
  places.push_back({path, &verb});
  for (const VerbText& inner : verb.verbs) add_places(inner, path + " " + inner.name, places);
}

std::vector<VerbPlace> places_of(const VerbText& program) {
  std::vector<VerbPlace> places;
  add_places(program, program.name, places);
  return places;
}

std::string replaced(std::string_view text, char from, std::string_view to) {
  std::string out;
  for (const char c : text) c == from ? out.append(to) : out.append(1, c);
  return out;
}

/// A word of bash and zsh, in single quotes and on one line.
std::string shell_quoted(std::string_view text) {
  return "'" + replaced(replaced(text, '\'', "'\\''"), '\n', " ") + "'";
}

std::string fish_quoted(std::string_view text) {
  return "'" + replaced(replaced(replaced(text, '\\', "\\\\"), '\'', "\\'"), '\n', " ") + "'";
}

/// The places below the program as patterns of a case, joined by `between`.
std::string patterns(const std::vector<VerbPlace>& places, const char* between) {
  std::string out;
  for (const VerbPlace& place : places) {
    if (place.path.find(' ') == std::string::npos) continue;
    out += (out.empty() ? "" : between) + shell_quoted(place.path);
  }
  return out;
}

/// The names of flags for which `is_wanted` holds, with spaces between.
std::string names_of(const VerbText& verb, const std::function<bool(const FlagText&)>& is_wanted) {
  std::string out;
  for (const FlagText& flag : verb.flags) {
    if (!is_wanted(flag)) continue;
    for (const std::string& name : flag.names) out += (out.empty() ? "" : " ") + name;
  }
  return out;
}

bool is_any(const FlagText&) { return true; }
bool takes_text(const FlagText& flag) { return flag.value == "TEXT"; }
bool takes_number(const FlagText& flag) { return !flag.value.empty() && !takes_text(flag); }

}  // namespace

std::string bash_completion(const VerbText& program) {
  const std::vector<VerbPlace> places = places_of(program);
  std::string out = "# bash completion of driftless\n_driftless() {\n";
  out += "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n";
  out += "  local place=" + program.name + " word verbs='' flags='' texts='' numbers=''\n";
  out +=
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case \"$place $word\" in\n      ";
  out += patterns(places, " | ") + ") place=\"$place $word\" ;;\n    esac\n  done\n";
  out += "  case $place in\n";
  for (const auto& [path, verb] : places) {
    std::string verbs;
    for (const VerbText& inner : verb->verbs) verbs += (verbs.empty() ? "" : " ") + inner.name;
    out += "    " + shell_quoted(path) + ") verbs=" + shell_quoted(verbs) +
           " flags=" + shell_quoted(names_of(*verb, is_any)) +
           " texts=" + shell_quoted(names_of(*verb, takes_text)) +
           " numbers=" + shell_quoted(names_of(*verb, takes_number)) + " ;;\n";
  }
  return out + R"(  esac
  COMPREPLY=()
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$current")
  elif [[ " $numbers " == *" $previous "* ]]; then
    compopt +o default 2>/dev/null
  elif [[ -n $verbs && " $texts " != *" $previous "* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$current")
  fi
}
complete -o default -F _driftless driftless driftless-mpi
)";
}

std::string zsh_completion(const VerbText& program) {
  const std::vector<VerbPlace> places = places_of(program);
  std::string out = "#compdef driftless driftless-mpi\n";
  out += "local place=" + program.name + " word texts numbers\nlocal -a verbs flags\n";
  out += "for word in ${words[2,CURRENT-1]}; do\n  case \"$place $word\" in\n    (";
  out += patterns(places, "|") + ") place=\"$place $word\" ;;\n  esac\ndone\ncase $place in\n";
  for (const auto& [path, verb] : places) {
    out += "  (" + shell_quoted(path) + ")\n    verbs=(";
    for (const VerbText& inner : verb->verbs)
      out += "\n      " + shell_quoted(inner.name + ":" + inner.summary);
    out += ")\n    flags=(";
    for (const FlagText& flag : verb->flags) {
      for (const std::string& name : flag.names)
        out += "\n      " + shell_quoted(name + ":" + flag.help);
    }
    out += ")\n    texts=" + shell_quoted(names_of(*verb, takes_text)) +
           "\n    numbers=" + shell_quoted(names_of(*verb, takes_number)) + " ;;\n";
  }
  return out + R"(esac
if [[ $words[CURRENT] == -* ]]; then
  _describe -o flag flags
elif [[ " $numbers " == *" $words[CURRENT-1] "* ]]; then
  _message number
elif (( $#verbs )) && [[ " $texts " != *" $words[CURRENT-1] "* ]]; then
  _describe verb verbs
else
  _files
fi
)";
}

std::string fish_completion(const VerbText& program) {
  const std::vector<VerbPlace> places = places_of(program);
  std::string out = "# fish completion of driftless\nfunction __driftless_at\n";
  out += "    set -l place " + program.name + "\n    for word in (commandline -opc)[2..-1]\n";
  out += "        switch \"$place $word\"\n            case " + patterns(places, " ") + "\n";
  out += "                set place \"$place $word\"\n        end\n    end\n";
  out += "    test \"$place\" = \"$argv\"\nend\n";
  for (const auto& [path, verb] : places) {
    const std::string start = "complete -c driftless -n " + shell_quoted("__driftless_at " + path);
    if (!verb->verbs.empty()) out += start + " -f\n";
    for (const VerbText& inner : verb->verbs)
      out += start + " -a " + inner.name + " -d " + fish_quoted(inner.summary) + "\n";
    for (const FlagText& flag : verb->flags) {
      out += start;
      for (const std::string& name : flag.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (takes_text(flag) && !flag.has_optional_value) out += " -r -F";
      if (takes_number(flag)) out += " -x";
      out += " -d " + fish_quoted(flag.help) + "\n";
    }
  }
  return out + "complete -c driftless-mpi -w driftless\n";
}

}  // namespace driftless::cli
