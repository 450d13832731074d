// SPDX-License-Identifier: Apache-2.0
#include "driftless/engine/recursion.h"

#include "driftless/engine/kernels/epilogues.h"
#include "driftless/engine/linear_input.h"
#include "driftless/engine/matmul.h"

namespace driftless::engine {
namespace {

class Inject : public Stage {
 public:
  Inject(const Build& build, model::Injection injection)
      : layout_(build.layout),
        injection_(injection),
        keeps_previous_(build.config.arch == model::Arch::Eqr),
        epilogues_(build.epilogues) {}

  [[nodiscard]] int64_t parts() const override { return layout_.row_parts; }

  void run(const Work& work) const override {
    const int64_t count = layout_.part_rows * layout_.width;
    const int64_t first = work.part * count;
    float* const h = work.h + first;
    if (keeps_previous_) std::copy_n(h, count, work.slot.previous.data() + first);
    if (injection_ == model::Injection::AnswerAndInput)
      epilogues_.add_sum(h, work.slot.z_h.data() + first, work.slot.x.data() + first, count);
    else
      epilogues_.add(h, work.slot.z_l.data() + first, count);
  }

 private:
  Layout layout_;
  model::Injection injection_;
  bool keeps_previous_;
  const EpilogueSet& epilogues_;
};

/// One part: the order of the random numbers must not depend on threads.
class Damp : public Stage {
 public:
  explicit Damp(const Build& build)
      : layout_(build.layout),
        lambda_(static_cast<float>(build.config.lambda)),
        noise_scale_(build.config.noise_scale) {}

  [[nodiscard]] int64_t parts() const override { return 1; }

  void run(const Work& work) const override {
    const float* const previous = work.slot.previous.data();
    for (int64_t i = 0; i < layout_.rows * layout_.width; ++i) {
      const double noise = noise_scale_ == 0 ? 0 : noise_scale_ * work.slot.rng.gaussian();
      work.h[i] = (1.0f - lambda_) * previous[i] + lambda_ * work.h[i] + static_cast<float>(noise);
    }
  }

 private:
  Layout layout_;
  float lambda_;
  double noise_scale_;
};

class Heads : public Stage {
 public:
  explicit Heads(const Build& build)
      : prefix_rows_(build.config.puzzle_emb_len),
        cells_(build.config.seq_len),
        vocab_(build.config.vocab_size),
        width_(build.config.hidden_size),
        logits_input_(build, "lm_head.weight", {cells_, width_}),
        halt_input_(build, "q_head.weight", {1, width_}),
        halt_weights_(build.tensors.at("q_head.weight").values),
        halt_bias_(build.tensors.at("q_head.bias").values),
        logits_(logits_input_.arithmetic(),
                {.m = cells_,
                 .k = logits_input_.length(),
                 .n = vocab_,
                 .a = {logits_input_.stride()},
                 .b = transposed(logits_input_.length()),
                 .c = {vocab_}},
                build.workers, {.b = build.weights(logits_input_.name())}) {}

  [[nodiscard]] int64_t parts() const override { return 1; }
  [[nodiscard]] int64_t scratch_size() const override {
    return std::max(logits_input_.scratch_size(), halt_input_.scratch_size());
  }

  void run(const Work& work) const override {
    const float* const z_h = work.slot.z_h.data();
    const float* const cells = z_h + prefix_rows_ * width_;
    logits_.run(work.worker, logits_input_.prepare(work, cells, cells_, 0, work.scratch), nullptr,
                work.slot.logits.data());
    const float* const first = halt_input_.prepare(work, z_h, 1, 0, work.scratch);
    const int64_t length = halt_input_.length();
    for (int64_t output = 0; output < 2; ++output) {
      double sum = halt_bias_.data()[output];
      for (int64_t i = 0; i < length; ++i)
        sum += static_cast<double>(halt_weights_.data()[output * length + i]) * first[i];
      work.slot.halt_logits[static_cast<size_t>(output)] = static_cast<float>(sum);
    }
    show_outputs(work);
  }

 private:
  void show_outputs(const Work& work) const {
    using reason::Point;
    if (work.observer == nullptr) return;
    if (work.observer->wants(Point::Logits))
      work.observer->observe({.point = Point::Logits,
                              .slot = work.slot_index,
                              .call = work.call,
                              .values = {work.slot.logits.data(), cells_, vocab_, vocab_}});
    if (work.observer->wants(Point::HaltLogits))
      work.observer->observe({.point = Point::HaltLogits,
                              .slot = work.slot_index,
                              .call = work.call,
                              .values = {work.slot.halt_logits.data(), 1, 2, 2}});
  }

  int64_t prefix_rows_;
  int64_t cells_;
  int64_t vocab_;
  int64_t width_;
  LinearInput logits_input_, halt_input_;
  Buffer halt_weights_, halt_bias_;
  Matmul logits_;
};

}  // namespace

std::unique_ptr<Stage> make_inject(const Build& build, model::Injection injection) {
  return std::make_unique<Inject>(build, injection);
}

std::unique_ptr<Stage> make_damp(const Build& build) { return std::make_unique<Damp>(build); }

std::unique_ptr<Stage> make_heads(const Build& build) { return std::make_unique<Heads>(build); }

}  // namespace driftless::engine
