// SPDX-License-Identifier: Apache-2.0
// The manual page and the completions of shells, written from the verbs and flags that the program
// has, so that they cannot tell of others.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace driftless::cli {

/// What help tells of an argument: a flag, or a place where its only name has no dashes.
struct FlagText {
  std::vector<std::string> names;  ///< "--help", "-h"
  std::string value;               ///< such as INT or TEXT; "" for a switch
  std::string help;
  bool is_required = false;
  bool is_repeated = false;
  bool has_optional_value = false;
};

/// What help tells of a verb.
struct VerbText {
  std::string name;
  std::string summary;
  std::string footer;  ///< its example
  std::vector<FlagText> places;
  std::vector<FlagText> flags;
  std::vector<VerbText> verbs;
};

/// A variable of the environment that the program reads.
struct EnvironmentText {
  const char* name;
  const char* help;
};
inline constexpr std::array<EnvironmentText, 5> kEnvironment = {{
    {"DRIFTLESS_DATA", "the folder that has models and recipes, in place of the installed one"},
    {"DRIFTLESS_ISA", "the best instruction set that kernels may use; driftless info lists them"},
    {"DRIFTLESS_MIXERS",
     "mixers on a Hopper GPU: fused (default), forward (fused without gradients only), apart"},
    {"DRIFTLESS_THREADS", "threads where --threads is not given (default: all)"},
    {"NO_COLOR", "set to anything: no colors"},
}};

/// For man, in its own language, roff.
std::string man_page(const VerbText& program, const std::string& version);

/// Scripts for the shells. After a flag that takes a text they offer files.
std::string bash_completion(const VerbText& program);
std::string zsh_completion(const VerbText& program);
std::string fish_completion(const VerbText& program);

}  // namespace driftless::cli
