// SPDX-License-Identifier: Apache-2.0
// The parts of an exported source that are the model's own: sizes, weights and tables.
#pragma once

#include <cstdint>
#include <string>

#include "driftless/export/c_plan.h"

namespace driftless::exporter {

/// What the header has of a model's configuration.
std::string size_macros(const CModel& model, uint64_t hash);

/// What the mixers need to know before.
std::string mixer_macros(const CModel& model);

/// The turns of rotary positions; "" where there are none.
std::string rope_data(const CModel& model);

/// Weights, tables, and how the scratch of each stage lies.
std::string model_data(const CModel& model, const store::PackedModel& packed);

/// Bytes of the tables.
int64_t table_bytes(const CModel& model, const store::PackedModel& packed);

}  // namespace driftless::exporter
