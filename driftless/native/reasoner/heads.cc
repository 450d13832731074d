// SPDX-License-Identifier: Apache-2.0
// The heads read z_H: logits of the cells and the two halt logits, in float32 (the halt head sums
// in double) unless the plan quantizes them.
#include <optional>

#include "driftless/base/buffer.h"
#include "driftless/loop/recursion.h"
#include "driftless/native/reasoner/build.h"

namespace driftless::native {
namespace {

using loop::Stage;
using loop::Work;

constexpr const char* kLogits = "lm_head.weight";
constexpr const char* kHalt = "q_head.weight";

class Heads : public Stage {
 public:
  explicit Heads(NativeBuild& build)
      : config_(build.model.config),
        width_(config_.hidden_size),
        epilogues_(build.epilogues),
        halt_bias_(build.model.tensors.at("q_head.bias").values) {
    if (is_planned(build, kLogits)) {
      logits_.emplace(build, kLogits, config_.seq_len);
    } else {
      const std::vector<float>& weight = build.model.tensors.at(kLogits).values;
      logits_weights_ = Buffer(width_ * config_.vocab_size);
      for (int64_t v = 0; v < config_.vocab_size; ++v)
        for (int64_t i = 0; i < width_; ++i)
          logits_weights_.data()[i * config_.vocab_size + v] =
              weight[static_cast<size_t>(v * width_ + i)];
    }
    if (is_planned(build, kHalt))
      halt_.emplace(build, kHalt, 1);
    else
      halt_weights_ = Buffer(build.model.tensors.at(kHalt).values);
  }

  [[nodiscard]] int64_t parts() const override { return 1; }

  void run(const Work& work) const override {
    run_logits(work);
    run_halt(work);
    loop::show_outputs(work, config_);
  }

 private:
  void run_logits(const Work& work) const {
    const float* const cells = work.slot.z_h.data() + config_.puzzle_emb_len * width_;
    float* const logits = work.slot.logits.data();
    const int64_t vocab = config_.vocab_size;
    if (logits_)
      return logits_->run(work, 0, {cells, config_.seq_len, width_},
                          {logits, config_.seq_len, vocab});
    epilogues_.multiply({.a = cells,
                         .a_stride = width_,
                         .b = logits_weights_.data(),
                         .b_stride = vocab,
                         .c = logits,
                         .c_stride = vocab,
                         .m = config_.seq_len,
                         .k = width_,
                         .n = vocab});
  }

  void run_halt(const Work& work) const {
    const float* const first = work.slot.z_h.data();
    std::array<float, 2>& out = work.slot.halt_logits;
    if (halt_) halt_->run(work, 0, {first, 1, width_}, {out.data(), 1, 2});
    for (int64_t output = 0; output < 2; ++output) {
      const auto at = static_cast<size_t>(output);
      double sum = static_cast<double>(halt_bias_.data()[output]) + (halt_ ? out[at] : 0);
      for (int64_t i = 0; !halt_ && i < width_; ++i)
        sum += static_cast<double>(halt_weights_.data()[output * width_ + i]) * first[i];
      out[at] = static_cast<float>(sum);
    }
  }

  model::ModelConfig config_;
  int64_t width_;
  const loop::EpilogueSet& epilogues_;
  std::optional<Linear> logits_, halt_;
  Buffer logits_weights_;  // [D, V]
  Buffer halt_weights_, halt_bias_;
};

}  // namespace

std::unique_ptr<loop::Stage> make_heads(NativeBuild& build) {
  return std::make_unique<Heads>(build);
}

}  // namespace driftless::native
