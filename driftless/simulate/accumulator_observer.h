// SPDX-License-Identifier: Apache-2.0
// Watches the linear layers of a model at work and keeps what the accumulators of their integer
// products would meet. Works on every reasoner that shows the inputs of linear layers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "driftless/integer/accumulator.h"
#include "driftless/model/schedule.h"
#include "driftless/quant/plan/plan.h"
#include "driftless/quant/quantizer.h"
#include "driftless/reason/observer.h"
#include "driftless/store/checkpoint.h"

namespace driftless::simulate {

/// One factor of a layer's product.
struct FactorExponents {
  int64_t window = 0;  ///< the largest left shift
  std::vector<int64_t>
      spread{};  ///< [distance below the row's largest exponent, before the window]

  [[nodiscard]] int64_t widest() const;
  /// Of the blocks that are not zero, those that the window raised.
  [[nodiscard]] double share_raised() const;
  /// The least left shift of a block that is not zero; the largest one is the window.
  [[nodiscard]] int64_t least_shift() const;
};

/// What one layer met in the network calls that update one state.
struct LayerAccumulation {
  std::string layer;
  model::State updates;
  int64_t k = 0;
  int64_t outputs = 0;
  FactorExponents acts{};
  FactorExponents weights{};
  std::vector<int64_t> bits{};        ///< [bits] counts sums whose running values needed so many
  int64_t bits_for_weights = 0;       ///< enough for these weights and any activations
  int64_t bits_for_any_operands = 0;  ///< enough for any weights and activations of the formats

  /// The most bits that occurred; 0 when the layer was never seen.
  [[nodiscard]] int64_t most_bits() const { return bits.empty() ? 0 : std::ssize(bits) - 1; }
  [[nodiscard]] int64_t sums() const;
  /// The share of sums that do not fit an accumulator of so many bits.
  [[nodiscard]] double share_beyond(int64_t accumulator_bits) const;
};

class AccumulatorObserver : public reason::StepObserver {
 public:
  /// For the layers of the plan. Throws what require_integer_layers throws.
  AccumulatorObserver(const store::Checkpoint& checkpoint, const quant::QuantPlan& plan);

  [[nodiscard]] bool wants(reason::Point point) const override {
    return point == reason::Point::LinearInput;
  }
  void observe(const reason::Observation& seen) override;

  /// By layer in the order of the plan, and within one L before H; without what was never seen.
  [[nodiscard]] std::vector<LayerAccumulation> layers() const;

 private:
  struct Layer {
    quant::QuantSpec acts;
    quant::Quantizer unlimited;  // the activations' quantizer without its window
    integer::AccumulatedProduct product;
    LayerAccumulation blank;
  };

  std::vector<model::NetworkCall> schedule_;
  std::map<std::string, Layer, std::less<>> layers_;
  std::vector<std::string> order_;
  std::map<std::pair<std::string, model::State>, LayerAccumulation> seen_;
  std::vector<float> values_;
  std::vector<int64_t> sums_;
  std::vector<uint64_t> reach_;
};

}  // namespace driftless::simulate
