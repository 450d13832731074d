// SPDX-License-Identifier: Apache-2.0
// The verbs of the command line. Each adds its flags and a callback to a subcommand; main.cc lists
// them in one table, parses, and turns errors into exit codes.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "driftless/base/text.h"

namespace driftless::cli {

/// Ends the help of a verb with an example that a user can paste.
inline void show_example(CLI::App& verb, const std::string& command) {
  verb.footer("Example: " + command + "\n");
}

/// For counts: 1 or more.
inline CLI::Validator positive() {
  return {[](const std::string& text) -> std::string {
            const auto value = parse_int(text);
            if (value && *value >= 1) return {};
            return "got '" + text + "', expected an integer of 1 or more";
          },
          "", "positive"};
}

void add_formats_command(CLI::App& verb);
void add_codec_command(CLI::App& verb);
void add_convert_command(CLI::App& verb);
void add_data_command(CLI::App& verb);
void add_info_command(CLI::App& verb);
void add_quantize_command(CLI::App& verb);
void add_eval_command(CLI::App& verb);
void add_solve_command(CLI::App& verb);
void add_bench_command(CLI::App& verb);
void add_accumulators_command(CLI::App& verb);
void add_study_command(CLI::App& verb);
void add_ladder_command(CLI::App& verb);
void add_recommend_command(CLI::App& verb);
void add_bench_train_command(CLI::App& verb);
void add_train_command(CLI::App& verb);
void add_qat_command(CLI::App& verb);
void add_trace_command(CLI::App& verb);
void add_report_command(CLI::App& verb);

}  // namespace driftless::cli
