// SPDX-License-Identifier: Apache-2.0
// SwiGLU over the positions of each channel, norm over the positions. The reference transposes the
// state to [D, T]; here the weights stand on the left instead, W [2 inner, T] times h [T, D], and
// nothing is transposed. A part is a range of channels, that is, columns of h.
#include "driftless/engine/block.h"
#include "driftless/engine/kernels/epilogues.h"
#include "driftless/engine/matmul.h"

namespace driftless::engine {
namespace {

/// Scratch of one part, C channels: gate [inner, C] and up [inner, C] | product [inner, C] |
/// output [T, C] | C sums of squares.
class TokenMixer : public Stage {
 public:
  TokenMixer(const Build& build, const std::string& prefix)
      : layout_(build.layout),
        inner_(model::swiglu_inner(layout_.rows, build.config.expansion)),
        eps_(static_cast<float>(build.config.rms_norm_eps)),
        gate_up_name_(prefix + ".gate_up_proj.weight"),
        down_name_(prefix + ".down_proj.weight"),
        gate_up_(build.dtype,
                 {.m = 2 * inner_,
                  .k = layout_.rows,
                  .n = layout_.part_channels,
                  .a = {layout_.rows},
                  .b = {layout_.width},
                  .c = {layout_.part_channels}},
                 build.workers, {.a = build.weights(gate_up_name_)}),
        down_(build.dtype,
              {.m = layout_.rows,
               .k = inner_,
               .n = layout_.part_channels,
               .a = {inner_},
               .b = {layout_.part_channels},
               .c = {layout_.part_channels}},
              build.workers, {.a = build.weights(down_name_)}),
        epilogues_(build.epilogues) {}

  [[nodiscard]] int64_t parts() const override { return layout_.channel_parts; }
  [[nodiscard]] int64_t scratch_size() const override {
    return layout_.part_channels * (3 * inner_ + layout_.rows + 1);
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

    work.show_input(gate_up_name_, first_channel, {h, channels, layout_.rows, 1, layout_.width});
    gate_up_.run(work.worker, nullptr, h, gate);
    epilogues_.silu_mul(gate, up, product, inner_ * channels);
    work.show_input(down_name_, first_channel, {product, channels, inner_, 1, channels});
    down_.run(work.worker, nullptr, product, output);
    epilogues_.add_norm_columns(h, layout_.width, output, layout_.rows, channels, eps_, squares);
  }

 private:
  Layout layout_;
  int64_t inner_;
  float eps_;
  std::string gate_up_name_, down_name_;
  Matmul gate_up_, down_;
  const EpilogueSet& epilogues_;
};

}  // namespace

void add_token_mixer(Stages& stages, const Build& build, const std::string& prefix) {
  stages.push_back(std::make_unique<TokenMixer>(build, prefix));
}

}  // namespace driftless::engine
