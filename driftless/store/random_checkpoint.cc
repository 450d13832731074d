// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/random_checkpoint.h"

#include <cmath>

#include "driftless/base/rng.h"
#include "driftless/model/shapes.h"

namespace driftless::store {

Checkpoint random_checkpoint(const model::ModelConfig& config, uint64_t seed) {
  Rng rng(seed);
  Checkpoint checkpoint{.config = config, .tensors = {}, .metadata = {}};
  for (const model::ParamSpec& spec : model::parameters(config)) {
    Tensor& tensor = checkpoint.tensors[spec.name];
    tensor.shape = spec.shape;
    const double fan_in = spec.shape.size() == 2 ? static_cast<double>(spec.shape.back()) : 1.0;
    const double deviation = 1 / std::sqrt(fan_in);
    tensor.values.resize(static_cast<size_t>(model::element_count(spec)));
    for (float& value : tensor.values) value = static_cast<float>(deviation * rng.gaussian());
  }
  return checkpoint;
}

}  // namespace driftless::store
