// SPDX-License-Identifier: Apache-2.0
// The flags of what driftless/run takes: devices, schemes, calibration, studies.
#pragma once

#include "driftless/cli/flags/flags.h"
#include "driftless/run/backend.h"
#include "driftless/run/calibration.h"
#include "driftless/run/scheme.h"
#include "driftless/run/study/study_files.h"
#include "driftless/run/study/study_rows.h"

namespace driftless::cli {

void add_threads_flag(const Verb& verb, int64_t& threads);
void add_dtype_flag(const Verb& verb, std::string& dtype);
void add_halting_flag(const Verb& verb, std::string& halting);
/// --device, --native (which is a device), --dtype and --threads.
void add_device_flags(const Verb& verb, run::BackendOptions& options);
/// The same and --batch.
void add_backend_flags(const Verb& verb, run::BackendOptions& options);

/// The boards of a calibration; also shows its progress and lets Ctrl-C end it.
void add_calibration_flags(const Verb& verb, run::CalibrationOptions& options);

/// How a model is quantized, and the flags of its calibration.
void add_scheme_flags(const Verb& verb, run::SchemeText& scheme);

/// --schemes, --coverage, --attention and --steps.
void add_scheme_row_flags(const Verb& verb, run::SchemeRows& rows);

/// All flags of a study but the model's, the data's, the calibration's and --out.
void add_study_flags(const Verb& verb, run::StudyOptions& options);

}  // namespace driftless::cli
