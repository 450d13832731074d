// SPDX-License-Identifier: Apache-2.0
// The memory of exported code: which buffers there are at once, and the one struct that has them.
// Mixers take turns, so that their buffers share a place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driftless/export/c_layers.h"

namespace driftless::exporter {

/// What kernels work on: the bytes of 32 unpacked weights, and those of an activation's integer.
struct Workspace {
  int64_t place = 0;
  int64_t code = 1;
};
inline constexpr Workspace kPlainC{.place = 68};
inline constexpr Workspace kDsp{.place = 64, .code = 2};
inline constexpr Workspace kVector{.place = 32};  ///< Helium and RISC-V vectors

/// The two halves of a block, and the heads where they are quantized.
struct CBlock {
  CLinear first;   ///< gate_up of a token mixer, or qkv
  CLinear second;  ///< down, or the output projection
  CLinear gate_up, down;
};

struct CModel {
  model::ModelConfig config;
  bool has_int8_attention = false;
  std::vector<CBlock> blocks;
  std::vector<int64_t> network_first;  ///< of each network, its first block; then their number
  std::vector<CLinear> logits_head;    ///< one where it is quantized, otherwise none
  std::vector<CLinear> halt_head;
  int64_t position_tile, channel_tile;  ///< rows that go through a mixer together

  [[nodiscard]] bool has_attention() const { return config.mixer == model::Mixer::Attention; }
  [[nodiscard]] std::vector<const CLinear*> layers() const;
};

/// `tile` is the most rows at a time. Throws Unsupported for models that draw random numbers, and
/// what c_linear throws.
CModel c_model_of(const store::PackedModel& model, int64_t tile);

/// One array of the arena.
struct Field {
  enum class Of { Items, Codes, Places };
  std::string type;
  std::string name;
  int64_t count;
  int64_t size;       ///< bytes of an item
  Of of = Of::Items;  ///< what the kernels decide about: the size of codes and places

  [[nodiscard]] int64_t bytes(const Workspace& kernels) const {
    return count * (of == Of::Places ? kernels.place : of == Of::Codes ? kernels.code : size);
  }
};

/// The buffers of one mixer or of the heads.
struct Stage {
  std::string name;
  std::vector<Field> fields;
};
std::vector<Stage> stages(const CModel& model);

/// sizeof the struct with such kernels.
int64_t arena_bytes(const CModel& model, const Workspace& kernels);
/// The most bytes that any point of the schedule needs at once, byte for byte.
int64_t least_bytes(const CModel& model, const Workspace& kernels);

/// The struct, and REASONER_ARENA_BYTES.
std::string arena_text(const CModel& model);

int64_t multiply_adds(const CModel& model);

}  // namespace driftless::exporter
