// SPDX-License-Identifier: Apache-2.0
// What quantizing does to the input of each linear layer, by network call: relative error
// |q - x| / |x| and signed mean error, as a share of the root mean square of x.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/reason/observer.h"
#include "driftless/study/measure/tally.h"

namespace driftless::study {

class LayerErrors : public reason::StepObserver {
 public:
  explicit LayerErrors(Tally& tally) : tally_(tally) {}

  [[nodiscard]] bool wants(reason::Point point) const override {
    return point == reason::Point::LinearInput || point == reason::Point::QuantizedInput;
  }
  void observe(const reason::Observation& seen) override;

 private:
  struct Input {
    std::vector<float> values;  // row-major
    int64_t rows = 0;
    int64_t columns = 0;
  };

  Tally& tally_;
  /// The last LinearInput by slot: a device shows the inputs of all boards, then their codes.
  std::map<int64_t, Input> inputs_;
};

/// The error of one layer in one call, over all observed boards, steps and rows.
struct LayerError {
  std::string layer;
  int64_t call = 0;
  double relative = 0;
  double signed_mean = 0;
};
std::vector<LayerError> layer_errors(const Tally& tally);

}  // namespace driftless::study
