// SPDX-License-Identifier: Apache-2.0
// The verbs of the command line. Each adds its flags and a callback to a subcommand; main.cc lists
// them in one table, parses, and turns errors into exit codes.
#pragma once

#include "driftless/cli/flags.h"

namespace driftless::cli {

void add_formats_command(Verb verb);
void add_codec_command(Verb verb);
void add_convert_command(Verb verb);
void add_data_command(Verb verb);
void add_info_command(Verb verb);
void add_quantize_command(Verb verb);
void add_eval_command(Verb verb);
void add_solve_command(Verb verb);
void add_bench_command(Verb verb);
void add_accumulators_command(Verb verb);
void add_study_command(Verb verb);
void add_ladder_command(Verb verb);
void add_recommend_command(Verb verb);
void add_bench_train_command(Verb verb);
void add_train_command(Verb verb);
void add_qat_command(Verb verb);
void add_trace_command(Verb verb);
void add_report_command(Verb verb);
void add_manual_command(Verb verb);

}  // namespace driftless::cli
