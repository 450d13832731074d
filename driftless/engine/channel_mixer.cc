// SPDX-License-Identifier: Apache-2.0
// SwiGLU over the channels of each row, norm over the row.
#include "driftless/engine/block.h"
#include "driftless/engine/kernels/epilogues.h"
#include "driftless/engine/matmul.h"

namespace driftless::engine {
namespace {

/// Scratch of one part: gate and up [rows, 2 inner] | product [rows, inner] | output [rows, D].
class ChannelMixer : public Stage {
 public:
  ChannelMixer(const Build& build, const std::string& prefix)
      : layout_(build.layout),
        inner_(model::swiglu_inner(layout_.width, build.config.expansion)),
        eps_(static_cast<float>(build.config.rms_norm_eps)),
        gate_up_name_(prefix + ".gate_up_proj.weight"),
        down_name_(prefix + ".down_proj.weight"),
        gate_up_(build.dtype,
                 {.m = layout_.part_rows,
                  .k = layout_.width,
                  .n = 2 * inner_,
                  .a = {layout_.width},
                  .b = transposed(layout_.width),
                  .c = {2 * inner_}},
                 build.workers, {.b = build.weights(gate_up_name_)}),
        down_(build.dtype,
              {.m = layout_.part_rows,
               .k = inner_,
               .n = layout_.width,
               .a = {inner_},
               .b = transposed(inner_),
               .c = {layout_.width}},
              build.workers, {.b = build.weights(down_name_)}),
        epilogues_(build.epilogues) {}

  [[nodiscard]] int64_t parts() const override { return layout_.row_parts; }
  [[nodiscard]] int64_t scratch_size() const override {
    return layout_.part_rows * (3 * inner_ + layout_.width);
  }

  void run(const Work& work) const override {
    const int64_t first_row = work.part * layout_.part_rows;
    const int64_t rows = real_rows(layout_, work.part);
    float* const h = work.h + first_row * layout_.width;
    float* const gate_up = work.scratch;
    float* const product = gate_up + layout_.part_rows * 2 * inner_;
    float* const output = product + layout_.part_rows * inner_;

    work.show_input(gate_up_name_, first_row, {h, rows, layout_.width, layout_.width});
    gate_up_.run(work.worker, h, nullptr, gate_up);
    for (int64_t row = 0; row < layout_.part_rows; ++row) {
      const float* gate = gate_up + row * 2 * inner_;
      epilogues_.silu_mul(gate, gate + inner_, product + row * inner_, inner_);
    }
    work.show_input(down_name_, first_row, {product, rows, inner_, inner_});
    down_.run(work.worker, product, nullptr, output);
    for (int64_t row = 0; row < rows; ++row)
      epilogues_.add_norm(h + row * layout_.width, output + row * layout_.width, layout_.width,
                          eps_);
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

void add_channel_mixer(Stages& stages, const Build& build, const std::string& prefix) {
  stages.push_back(std::make_unique<ChannelMixer>(build, prefix));
}

}  // namespace driftless::engine
