// SPDX-License-Identifier: Apache-2.0
// SwiGLU over the positions of each channel, norm over the positions. The reference transposes the
// state to [D, T]; here the weights stand on the left instead, W [2 inner, T] times h [T, D], and
// nothing is transposed. A part is a range of channels, that is, columns of h.
#include "driftless/engine/block.h"
#include "driftless/engine/linear_input.h"
#include "driftless/engine/matmul.h"
#include "driftless/loop/kernels/epilogues.h"

namespace driftless::engine {
namespace {

/// Scratch of one part, C channels: gate [inner, C] and up [inner, C] | product [inner, C] |
/// output [T, C] | C sums of squares | input of a product where that is a copy.
class TokenMixer : public Stage {
 public:
  TokenMixer(const Build& build, const std::string& prefix)
      : layout_(build.layout),
        inner_(model::swiglu_inner(layout_.rows, build.config.expansion)),
        eps_(static_cast<float>(build.config.rms_norm_eps)),
        gate_up_input_(build, prefix + ".gate_up_proj.weight",
                       {layout_.part_channels, layout_.width, Lie::Columns}),
        down_input_(build, prefix + ".down_proj.weight",
                    {layout_.part_channels, layout_.part_channels, Lie::Columns}),
        gate_up_(gate_up_input_.arithmetic(),
                 {.m = 2 * inner_,
                  .k = gate_up_input_.length(),
                  .n = layout_.part_channels,
                  .a = {gate_up_input_.length()},
                  .b = {gate_up_input_.stride()},
                  .c = {layout_.part_channels}},
                 build.workers, {.a = build.weights(gate_up_input_.name())}),
        down_(down_input_.arithmetic(),
              {.m = layout_.rows,
               .k = down_input_.length(),
               .n = layout_.part_channels,
               .a = {down_input_.length()},
               .b = {down_input_.stride()},
               .c = {layout_.part_channels}},
              build.workers, {.a = build.weights(down_input_.name())}),
        epilogues_(build.epilogues) {}

  [[nodiscard]] int64_t parts() const override { return layout_.channel_parts; }
  [[nodiscard]] int64_t scratch_size() const override {
    return layout_.part_channels * (3 * inner_ + layout_.rows + 1) +
           std::max(gate_up_input_.scratch_size(), down_input_.scratch_size());
  }

  void run(const Work& work) const override {
    const int64_t channels = layout_.part_channels;
    const int64_t first_channel = work.part * channels;
    float* const h = work.h + first_channel;
    float* const gate = work.scratch;
    float* const up = gate + inner_ * channels;
    float* const product = up + inner_ * channels;
    float* const output = product + inner_ * channels;
    float* const squares = output + layout_.rows * channels;
    float* const copy = squares + channels;

    gate_up_.run(work.worker, nullptr,
                 gate_up_input_.prepare(work, h, channels, first_channel, copy), gate);
    epilogues_.silu_mul(gate, up, product, inner_ * channels);
    down_.run(work.worker, nullptr,
              down_input_.prepare(work, product, channels, first_channel, copy), output);
    epilogues_.add_norm_columns(h, layout_.width, output, layout_.rows, channels, eps_, squares);
  }

 private:
  Layout layout_;
  int64_t inner_;
  float eps_;
  LinearInput gate_up_input_, down_input_;
  Matmul gate_up_, down_;
  const EpilogueSet& epilogues_;
};

}  // namespace

void add_token_mixer(Stages& stages, const Build& build, const std::string& prefix) {
  stages.push_back(std::make_unique<TokenMixer>(build, prefix));
}

}  // namespace driftless::engine
