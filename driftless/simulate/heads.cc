// SPDX-License-Identifier: Apache-2.0
// The heads read z_H: logits of the cells and the two halt logits.
#include <algorithm>

#include "driftless/loop/recursion.h"
#include "driftless/simulate/block.h"
#include "driftless/simulate/linear.h"

namespace driftless::simulate {
namespace {

class Heads : public Stage {
 public:
  explicit Heads(const Build& build)
      : config_(build.config),
        prefix_rows_(build.config.puzzle_emb_len),
        cells_(build.config.seq_len),
        width_(build.config.hidden_size),
        logits_(build, "lm_head.weight", {cells_, width_}),
        halt_input_(build, "q_head.weight", {1, width_}),
        halt_weights_(build.tensors.at("q_head.weight").values),
        halt_bias_(build.tensors.at("q_head.bias").values) {}

  [[nodiscard]] int64_t parts() const override { return 1; }
  [[nodiscard]] int64_t scratch_size() const override {
    return std::max(logits_.scratch_size(), halt_input_.scratch_size());
  }

  void run(const Work& work) const override {
    const float* const z_h = work.slot.z_h.data();
    const float* const cells = z_h + prefix_rows_ * width_;
    logits_.run(work, cells, {cells_, 0}, work.scratch, work.slot.logits.data());
    const float* const first = halt_input_.prepare(work, z_h, {1, 0}, work.scratch);
    const int64_t length = halt_input_.length();
    for (int64_t output = 0; output < 2; ++output) {
      double sum = halt_bias_.data()[output];
      for (int64_t i = 0; i < length; ++i)
        sum += static_cast<double>(halt_weights_.data()[output * length + i]) * first[i];
      work.slot.halt_logits[static_cast<size_t>(output)] = static_cast<float>(sum);
    }
    loop::show_outputs(work, config_);
  }

 private:
  model::ModelConfig config_;
  int64_t prefix_rows_;
  int64_t cells_;
  int64_t width_;
  Linear logits_;
  LinearInput halt_input_;
  Buffer halt_weights_, halt_bias_;
};

}  // namespace

std::unique_ptr<Stage> make_heads(const Build& build) { return std::make_unique<Heads>(build); }

}  // namespace driftless::simulate
