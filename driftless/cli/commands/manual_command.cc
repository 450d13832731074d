// SPDX-License-Identifier: Apache-2.0
// driftless manual: what the build installs as manual page and completions.
#include <cstdio>
#include <memory>
#include <string>

#include "driftless/cli/command.h"
#include "driftless/cli/manual/manual.h"

namespace driftless::cli {
namespace {

std::string manual_as(const std::string& form, const VerbText& program) {
  if (form == "man") return man_page(program, DRIFTLESS_VERSION);
  if (form == "bash") return bash_completion(program);
  if (form == "zsh") return zsh_completion(program);
  if (form == "fish") return fish_completion(program);
  reject("form", "got '" + form + "', expected man, bash, zsh or fish");
}

}  // namespace

void add_manual_command(const Verb& verb) {
  auto form = std::make_shared<std::string>();
  verb.hide();
  verb.add_option("form", *form, "man, or a shell: bash, zsh or fish").required();
  verb.runs([form, verb] { std::fputs(manual_as(*form, verb.program_text()).c_str(), stdout); });
}

}  // namespace driftless::cli
