// SPDX-License-Identifier: Apache-2.0
// The verbs of the command line. Each adds its flags and a callback to a subcommand; main.cc lists
// them in one table, parses, and turns errors into exit codes.
#pragma once

#include "driftless/cli/flags/flags.h"

namespace driftless::cli {

void add_formats_command(const Verb& verb);
void add_codec_command(const Verb& verb);
void add_convert_command(const Verb& verb);
void add_data_command(const Verb& verb);
void add_info_command(const Verb& verb);
void add_quantize_command(const Verb& verb);
void add_export_command(const Verb& verb);
void add_eval_command(const Verb& verb);
void add_solve_command(const Verb& verb);
void add_bench_command(const Verb& verb);
void add_accumulators_command(const Verb& verb);
void add_study_command(const Verb& verb);
void add_ladder_command(const Verb& verb);
void add_recommend_command(const Verb& verb);
void add_bench_train_command(const Verb& verb);
void add_train_command(const Verb& verb);
void add_qat_command(const Verb& verb);
void add_trace_command(const Verb& verb);
void add_report_command(const Verb& verb);
void add_vectors_command(const Verb& verb);
void add_web_command(const Verb& verb);
void add_manual_command(const Verb& verb);

}  // namespace driftless::cli
