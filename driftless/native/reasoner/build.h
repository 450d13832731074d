// SPDX-License-Identifier: Apache-2.0
// What the stages of the native reasoner are built from, and the stages.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/loop/kernels/epilogues.h"
#include "driftless/loop/stage.h"
#include "driftless/native/column_swiglu.h"
#include "driftless/native/swiglu.h"
#include "driftless/store/packed_model.h"

namespace driftless::native {

/// Memory that stages of the same shape and formats work in, one object a worker or a slot: stages
/// take turns, so that the caches see one scratch instead of one a stage.
template <class Scratch>
using SharedScratch = std::shared_ptr<std::vector<Scratch>>;

/// What decides the size of a scratch, as far as its kind has it.
struct ScratchShape {
  int64_t rows = 0, k = 0, inner = 0;
  quant::QuantSpec input{}, hidden{};
  bool has_changes = false;
  bool operator==(const ScratchShape&) const = default;
};

/// The scratches of one kind, by shape.
template <class Scratch>
struct ScratchPool {
  struct Entry {
    ScratchShape shape;
    SharedScratch<Scratch> scratch;
  };
  std::vector<Entry> entries{};
};

struct HeadCodes;  // of attention in int8

/// Of one linear layer.
struct LinearScratch {
  RowMatrix rows;
  AlignedVector<float> change;  ///< [rows, K] where the input is a change
};

/// Lives while a reasoner is built.
struct NativeBuild {
  const store::PackedModel& model;
  loop::Layout layout;
  int64_t workers;
  int64_t slots;
  const KernelSet& set;
  const loop::EpilogueSet& epilogues;
  loop::SlotMemory memory{};
  std::tuple<ScratchPool<RowMatrix>, ScratchPool<LinearScratch>, ScratchPool<Swiglu::Scratch>,
             ScratchPool<ColumnSwiglu::Scratch>, ScratchPool<HeadCodes>>
      scratches{};

  /// The scratch of that shape, one object a worker, made by `make` on the first demand.
  template <class Make>
  auto shared(const ScratchShape& shape, Make make) {
    return shared(shape, workers, make);
  }
  template <class Make>
  auto shared(const ScratchShape& shape, int64_t count, Make make) {
    using Scratch = decltype(make());
    auto& entries = std::get<ScratchPool<Scratch>>(scratches).entries;
    for (const auto& entry : entries)
      if (entry.shape == shape) return entry.scratch;
    auto made = std::make_shared<std::vector<Scratch>>();
    for (int64_t i = 0; i < count; ++i) made->push_back(make());
    entries.push_back({shape, made});
    return made;
  }
};

/// A linear layer that the engine runs on integers.
struct NativeLayer {
  std::string name;
  quant::QuantizedMatrix weight;
  quant::QuantSpec acts;
  bool is_change;  ///< what is multiplied is what its input has changed by
};

/// Where in Work::memory a layer of changes keeps the sums of its inputs and of its outputs; null
/// for other layers.
class LayerSums {
 public:
  /// `rows` are those of a whole board.
  LayerSums(NativeBuild& build, const NativeLayer& layer, int64_t rows);
  /// Of the rows from `first` on, where rows lie one after another.
  [[nodiscard]] float* inputs(const loop::Work& work, int64_t first) const {
    return at(work, inputs_, first * input_count_);
  }
  [[nodiscard]] float* outputs(const loop::Work& work, int64_t first) const {
    return at(work, outputs_, first * output_count_);
  }
  /// The same where blocks of 32 columns do.
  [[nodiscard]] float* input_blocks(const loop::Work& work, int64_t first) const {
    return at(work, inputs_, first * kBlock);
  }
  [[nodiscard]] float* output_blocks(const loop::Work& work, int64_t first) const {
    return at(work, outputs_, first * kBlock);
  }

 private:
  [[nodiscard]] float* at(const loop::Work& work, int64_t place, int64_t offset) const {
    return is_kept_ ? work.memory + place + offset : nullptr;
  }

  bool is_kept_;
  int64_t input_count_, output_count_;
  int64_t inputs_ = 0, outputs_ = 0;
};

/// Whether the plan quantizes a layer.
bool is_planned(const NativeBuild& build, const std::string& name);

/// Throws Unsupported, naming the layer and why, for one that has to be simulated.
NativeLayer native_layer(const NativeBuild& build, const std::string& name);

/// Runs `body`; an error names the board, the layer and the call.
template <class Body>
void naming_layer(const loop::Work& work, const std::string& layer, Body body);

/// Rows times a weight.
class Linear {
 public:
  Linear(NativeBuild& build, const std::string& name, int64_t rows)
      : Linear(build, native_layer(build, name), rows) {}
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int64_t outputs() const { return weight_.columns; }
  /// in [n, K] to out [n, outputs()], n at most the rows of the constructor; `first` is the number
  /// of the first one within the board.
  void run(const loop::Work& work, int64_t first, quant::ConstMat in, quant::Mat out) const;

 private:
  Linear(NativeBuild& build, const NativeLayer& layer, int64_t rows);

  std::string name_;
  RowQuantizer quantizer_;
  PanelMatrix weight_;
  const loop::EpilogueSet& epilogues_;
  bool is_change_;
  SharedScratch<LinearScratch> scratch_;
  LayerSums sums_;
};

void add_token_mixer(loop::Stages& stages, NativeBuild& build, const std::string& prefix);
void add_channel_mixer(loop::Stages& stages, NativeBuild& build, const std::string& prefix);
void add_attention(loop::Stages& stages, NativeBuild& build, const std::string& prefix);
std::unique_ptr<loop::Stage> make_heads(NativeBuild& build);

template <class Body>
void naming_layer(const loop::Work& work, const std::string& layer, Body body) {
  try {
    body();
  } catch (const Error& error) {
    fail(error.code(), "board ", work.slot.board_number, ", layer '", layer, "', call ", work.call,
         ": ", error.what());
  }
}

}  // namespace driftless::native
