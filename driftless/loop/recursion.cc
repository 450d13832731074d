// SPDX-License-Identifier: Apache-2.0
#include "driftless/loop/recursion.h"

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "driftless/model/shapes.h"

namespace driftless::loop {
namespace {

class Inject : public Stage {
 public:
  Inject(const RecursionShape& shape, model::Injection injection)
      : layout_(shape.layout),
        injection_(injection),
        keeps_previous_(model::architecture(shape.config).has(model::After::Damp)),
        epilogues_(shape.epilogues) {}

  [[nodiscard]] int64_t parts() const override { return layout_.row_parts; }

  void run(const Work& work) const override {
    const PartRows rows = rows_in_work(layout_, work);
    const int64_t count = rows.count * layout_.width;
    const int64_t first = rows.first * layout_.width;
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

/// After::Damp: h <- (1 - lambda) * previous + lambda * h + noise_scale * N(0, I).
/// One part: the order of the random numbers must not depend on threads.
class Damp : public Stage {
 public:
  explicit Damp(const RecursionShape& shape)
      : layout_(shape.layout),
        lambda_(static_cast<float>(shape.config.lambda)),
        noise_scale_(shape.config.noise_scale) {}

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

/// After::Perturb: h <- h + deviation of the channel * N(0, I). One part, as Damp.
class Perturb : public Stage {
 public:
  Perturb(const RecursionShape& shape, std::span<const float> log_scale) : layout_(shape.layout) {
    const auto start = static_cast<float>(shape.config.noise_scale);
    deviation_.reserve(log_scale.size());
    for (const float value : log_scale) deviation_.push_back(std::exp(value) * start);
  }

  [[nodiscard]] int64_t parts() const override { return 1; }

  void run(const Work& work) const override {
    float* h = work.h;
    for (int64_t row = 0; row < layout_.rows; ++row)
      for (const float deviation : deviation_)
        *h++ += static_cast<float>(work.slot.rng.gaussian()) * deviation;
  }

 private:
  Layout layout_;
  std::vector<float> deviation_;
};

}  // namespace

std::unique_ptr<Stage> make_inject(const RecursionShape& shape, model::Injection injection) {
  return std::make_unique<Inject>(shape, injection);
}

std::unique_ptr<Stage> make_after(model::After after, const RecursionShape& shape,
                                  const store::TensorMap& tensors) {
  switch (after) {
    case model::After::Nothing:
      break;
    case model::After::Damp:
      return std::make_unique<Damp>(shape);
    case model::After::Perturb:
      return std::make_unique<Perturb>(shape, tensors.at(std::string(model::kLogScaleName)).values);
  }
  return nullptr;
}

void show_outputs(const Work& work, const model::ModelConfig& config) {
  using reason::Point;
  if (work.observer == nullptr) return;
  const int64_t vocab = config.vocab_size;
  if (work.observer->wants(Point::Logits))
    work.observer->observe({.point = Point::Logits,
                            .slot = work.slot_index,
                            .call = work.call,
                            .values = {work.slot.logits.data(), config.seq_len, vocab, vocab}});
  if (work.observer->wants(Point::HaltLogits))
    work.observer->observe({.point = Point::HaltLogits,
                            .slot = work.slot_index,
                            .call = work.call,
                            .values = {work.slot.halt_logits.data(), 1, 2, 2}});
}

}  // namespace driftless::loop
