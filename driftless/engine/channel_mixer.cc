// SPDX-License-Identifier: Apache-2.0
// SwiGLU over the channels of each row, norm over the row.
#include "driftless/engine/block.h"
#include "driftless/engine/linear_input.h"
#include "driftless/engine/matmul.h"
#include "driftless/loop/kernels/epilogues.h"

namespace driftless::engine {
namespace {

/// Scratch of one part: gate and up [rows, 2 inner] | product [rows, inner] | output [rows, D] |
/// input of a product where that is a copy.
class ChannelMixer : public Stage {
 public:
  ChannelMixer(const Build& build, const std::string& prefix)
      : layout_(build.layout),
        inner_(model::swiglu_inner(layout_.width, build.config.expansion)),
        eps_(static_cast<float>(build.config.rms_norm_eps)),
        gate_up_input_(build, prefix + ".gate_up_proj.weight", {layout_.part_rows, layout_.width}),
        down_input_(build, prefix + ".down_proj.weight", {layout_.part_rows, inner_}),
        gate_up_(gate_up_input_.arithmetic(),
                 {.m = layout_.part_rows,
                  .k = gate_up_input_.length(),
                  .n = 2 * inner_,
                  .a = {gate_up_input_.stride()},
                  .b = transposed(gate_up_input_.length()),
                  .c = {2 * inner_}},
                 build.workers, {.b = build.weights(gate_up_input_.name())}),
        down_(down_input_.arithmetic(),
              {.m = layout_.part_rows,
               .k = down_input_.length(),
               .n = layout_.width,
               .a = {down_input_.stride()},
               .b = transposed(down_input_.length()),
               .c = {layout_.width}},
              build.workers, {.b = build.weights(down_input_.name())}),
        epilogues_(build.epilogues) {}

  [[nodiscard]] int64_t parts() const override { return layout_.row_parts; }
  [[nodiscard]] int64_t scratch_size() const override {
    return layout_.part_rows * (3 * inner_ + layout_.width) +
           std::max(gate_up_input_.scratch_size(), down_input_.scratch_size());
  }

  void run(const Work& work) const override {
    const int64_t first_row = work.part * layout_.part_rows;
    const int64_t rows = real_rows(layout_, work.part);
    float* const h = work.h + first_row * layout_.width;
    float* const gate_up = work.scratch;
    float* const product = gate_up + layout_.part_rows * 2 * inner_;
    float* const output = product + layout_.part_rows * inner_;
    float* const copy = output + layout_.part_rows * layout_.width;

    gate_up_.run(work.worker, gate_up_input_.prepare(work, h, rows, first_row, copy), nullptr,
                 gate_up);
    for (int64_t row = 0; row < layout_.part_rows; ++row) {
      const float* gate = gate_up + row * 2 * inner_;
      epilogues_.silu_mul(gate, gate + inner_, product + row * inner_, inner_);
    }
    down_.run(work.worker, down_input_.prepare(work, product, rows, first_row, copy), nullptr,
              output);
    for (int64_t row = 0; row < rows; ++row)
      epilogues_.add_norm(h + row * layout_.width, output + row * layout_.width, layout_.width,
                          eps_);
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

void add_channel_mixer(Stages& stages, const Build& build, const std::string& prefix) {
  stages.push_back(std::make_unique<ChannelMixer>(build, prefix));
}

}  // namespace driftless::engine
