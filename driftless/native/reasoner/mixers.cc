// SPDX-License-Identifier: Apache-2.0
// Channel and token mixers: a fused SwiGLU on integers, then residual and norm.
#include <algorithm>

#include "driftless/loop/transpose.h"
#include "driftless/native/reasoner/build.h"

namespace driftless::native {
namespace {

using loop::Layout;
using loop::Stage;
using loop::Work;

/// The two layers of a SwiGLU.
struct Layers {
  NativeLayer gate_up;
  NativeLayer down;

  Layers(const NativeBuild& build, const std::string& prefix)
      : gate_up(native_layer(build, prefix + ".gate_up_proj.weight")),
        down(native_layer(build, prefix + ".down_proj.weight")) {}

  [[nodiscard]] SwigluWeights weights() const { return {gate_up.weight, down.weight}; }
  [[nodiscard]] SwigluActs acts() const {
    return {gate_up.acts, down.acts, gate_up.is_change, down.is_change};
  }
  [[nodiscard]] ScratchShape scratch(int64_t rows) const {
    return {rows,         gate_up.weight.cols, down.weight.cols,
            gate_up.acts, down.acts,           gate_up.is_change};
  }
};

/// Where in Work::memory a SwiGLU keeps what changes have added up to.
class SumPlaces {
 public:
  /// `rows` are those of a whole board.
  SumPlaces(NativeBuild& build, const Layers& layers, int64_t rows)
      : rows_(rows), input_(build, layers.gate_up, rows), hidden_(build, layers.down, rows) {}

  /// Of the rows from `first` on.
  [[nodiscard]] SwigluSums at(const Work& work, int64_t first) const {
    return {.input = input_.inputs(work, first),
            .gate_up = input_.output_blocks(work, first),
            .hidden = hidden_.input_blocks(work, first),
            .output = hidden_.outputs(work, first),
            .all_rows = rows_,
            .passes = work.passes};
  }

 private:
  int64_t rows_;
  LayerSums input_, hidden_;
};

/// What the mixers have in common: a fused SwiGLU of either kind, a scratch of it for each worker,
/// and what comes after it.
template <class Fused>
class Mixer : public Stage {
 protected:
  template <class MakeScratch>
  Mixer(NativeBuild& build, const std::string& prefix, const Layers& layers, int64_t rows,
        MakeScratch make_scratch)
      : name_(prefix),
        layout_(build.layout),
        eps_(static_cast<float>(build.model.config.rms_norm_eps)),
        epilogues_(build.epilogues),
        swiglu_(layers.weights(), layers.acts(), build.set, build.epilogues),
        scratch_(build.shared(layers.scratch(rows), [&] { return make_scratch(swiglu_); })) {}

  [[nodiscard]] typename Fused::Scratch& scratch_of(const Work& work) const {
    return (*scratch_)[static_cast<size_t>(work.worker)];
  }

  std::string name_;
  Layout layout_;
  float eps_;
  const loop::EpilogueSet& epilogues_;
  Fused swiglu_;

 private:
  SharedScratch<typename Fused::Scratch> scratch_;
};

/// Scratch of one part: output [rows, D].
class ChannelMixer : public Mixer<Swiglu> {
 public:
  ChannelMixer(NativeBuild& build, const std::string& prefix, const Layers& layers)
      : Mixer(build, prefix, layers, build.layout.rows,
              [&](const auto& fused) { return fused.make_scratch(build.layout.rows); }),
        sums_(build, layers, build.layout.rows) {}

  [[nodiscard]] int64_t parts() const override { return layout_.row_parts; }
  /// Weights pass through the caches once a stage.
  [[nodiscard]] int64_t parts_alone() const override { return 1; }
  [[nodiscard]] int64_t scratch_size() const override { return layout_.rows * layout_.width; }

  void run(const Work& work) const override {
    const auto [first, rows] = loop::rows_in_work(layout_, work);
    float* const h = work.h + first * layout_.width;
    const quant::Mat out{work.scratch, rows, layout_.width};
    const SwigluSums sums = sums_.at(work, first);
    naming_layer(work, name_, [&] {
      swiglu_.run({h, out.rows, layout_.width}, scratch_of(work), out, sums);
    });
    for (int64_t row = 0; row < rows; ++row)
      epilogues_.add_norm(h + row * layout_.width, out.row(row).data(), layout_.width, eps_);
  }

 private:
  SumPlaces sums_;
};

/// Token mixing panel by panel, where nothing is transposed. Scratch of one part: state and output
/// of a panel, [T, panel] each. The state is copied out and back because its rows lie a power of
/// two apart, of which the nearest cache holds few at once.
class ColumnMixer : public Mixer<ColumnSwiglu> {
 public:
  ColumnMixer(NativeBuild& build, const std::string& prefix, const Layers& layers)
      : Mixer(build, prefix, layers, 1, [&](const auto& fused) { return fused.make_scratch(); }) {}

  [[nodiscard]] int64_t parts() const override { return layout_.channel_parts; }
  [[nodiscard]] int64_t scratch_size() const override {
    return 2 * layout_.rows * swiglu_.columns();
  }

  void run(const Work& work) const override {
    const int64_t width = swiglu_.columns();
    float* const state = work.scratch;
    float* const output = state + layout_.rows * width;
    const int64_t first = work.part * layout_.part_channels;
    for (int64_t column = first; column < first + layout_.part_channels; column += width) {
      float* const h = work.h + column;
      for (int64_t row = 0; row < layout_.rows; ++row)
        std::copy_n(h + row * layout_.width, width, state + row * width);
      naming_layer(work, name_, [&] { swiglu_.run(state, width, scratch_of(work), output); });
      epilogues_.add_norm_columns(state, width, output, layout_.rows, width, eps_);
      for (int64_t row = 0; row < layout_.rows; ++row)
        std::copy_n(state + row * width, width, h + row * layout_.width);
    }
  }
};

/// Token mixing with channels as rows, for changes, and for formats and sets without column
/// encoders. Scratch of one part, C channels: input [C, T] | output [C, T] | output [T, C].
class TransposedMixer : public Mixer<Swiglu> {
 public:
  TransposedMixer(NativeBuild& build, const std::string& prefix, const Layers& layers)
      : Mixer(build, prefix, layers, build.layout.part_channels,
              [&](const auto& fused) { return fused.make_scratch(build.layout.part_channels); }),
        sums_(build, layers, build.layout.width) {}

  [[nodiscard]] int64_t parts() const override { return layout_.channel_parts; }
  [[nodiscard]] int64_t scratch_size() const override {
    return 3 * layout_.part_channels * layout_.rows;
  }

  void run(const Work& work) const override {
    const int64_t channels = layout_.part_channels;
    const int64_t size = channels * layout_.rows;
    float* const h = work.h + work.part * channels;
    float* const input = work.scratch;
    float* const output = input + size;
    float* const upright = output + size;
    loop::transpose({h, layout_.rows, channels}, layout_.width, input, layout_.rows);
    naming_layer(work, name_, [&] {
      swiglu_.run({input, channels, layout_.rows}, scratch_of(work),
                  {output, channels, layout_.rows}, sums_.at(work, work.part * channels));
    });
    loop::transpose({output, channels, layout_.rows}, layout_.rows, upright, channels);
    epilogues_.add_norm_columns(h, layout_.width, upright, layout_.rows, channels, eps_);
  }

 private:
  SumPlaces sums_;
};

}  // namespace

void add_channel_mixer(loop::Stages& stages, NativeBuild& build, const std::string& prefix) {
  stages.push_back(std::make_unique<ChannelMixer>(build, prefix, Layers(build, prefix)));
}

void add_token_mixer(loop::Stages& stages, NativeBuild& build, const std::string& prefix) {
  const Layers layers(build, prefix);
  const bool has_whole_panels = build.layout.part_channels % build.set.columns == 0;
  if (has_whole_panels && ColumnSwiglu::suits(layers.weights(), layers.acts(), build.set))
    stages.push_back(std::make_unique<ColumnMixer>(build, prefix, layers));
  else
    stages.push_back(std::make_unique<TransposedMixer>(build, prefix, layers));
}

}  // namespace driftless::native
