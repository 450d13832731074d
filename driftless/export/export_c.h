// SPDX-License-Identifier: Apache-2.0
// A packed model as C99 sources whose states have the bits of the native engine. docs/numerics.md,
// "Exported C", says what that takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driftless/store/packed_model.h"

namespace driftless::exporter {

struct COptions {
  std::string name{};     ///< of the model in C
  std::string section{};  ///< for constants; "": where the compiler puts them
  /// Of dsp, mve and riscv (vectors), those to write beside plain C.
  std::vector<std::string> kernels = {"dsp", "mve", "riscv"};
  int64_t tile = 16;       ///< most rows that pass a mixer together: more need memory, fewer time
  int64_t most_flash = 0;  ///< bytes of constants; 0: any number
  int64_t most_ram = 0;    ///< bytes of the arena, with any of the kernels that are written
};

struct CFile {
  std::string name;
  std::string text;
};

/// The memory of a model with some kernels.
struct CArena {
  int64_t bytes = 0;
  int64_t least = 0;  ///< what the schedule needs at once
};

struct CExport {
  std::vector<CFile> files{};
  int64_t weight_bytes = 0;
  int64_t table_bytes = 0;  ///< embeddings, positions, float heads
  CArena plain_c{}, dsp{}, vector{};
  int64_t multiply_adds = 0;
  uint64_t hash = 0;  ///< of the self-test's states

  [[nodiscard]] int64_t flash_bytes() const { return weight_bytes + table_bytes; }
};

/// Throws Unsupported, naming the layer, for models that the native engine or the exported code do
/// not run, and InvalidArgument for a name that is no identifier, an unknown kernel, a bad tile or
/// section, or more bytes than allowed.
CExport export_c(const store::PackedModel& model, const COptions& options);

/// The hash that reasoner_hash of the exported code gives for these states.
uint64_t state_hash(std::span<const float> h, std::span<const float> l,
                    std::span<const float> halt);

}  // namespace driftless::exporter
