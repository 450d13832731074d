// SPDX-License-Identifier: Apache-2.0
#include "driftless/bench/random_model.h"

#include <cmath>

#include "driftless/base/rng.h"
#include "driftless/model/presets.h"
#include "driftless/model/shapes.h"

namespace driftless::bench {

store::Checkpoint random_preset(std::string_view name, int64_t width) {
  model::ModelConfig config = model::find_preset(name).config;
  if (width > 0) {
    config.hidden_size = width;
    config.puzzle_emb_ndim = width;
  }
  return random_model(config, 1);
}

store::Checkpoint random_model(const model::ModelConfig& config, uint64_t seed) {
  model::validate(config, "random model");
  Rng rng(seed);
  store::Checkpoint checkpoint{.config = config, .tensors = {}, .metadata = {}};
  for (const model::ParamSpec& spec : model::parameters(config)) {
    store::Tensor& tensor = checkpoint.tensors[spec.name];
    tensor.shape = spec.shape;
    const double fan_in = spec.shape.size() == 2 ? static_cast<double>(spec.shape.back()) : 1.0;
    const double deviation = 1 / std::sqrt(fan_in);
    tensor.values.resize(static_cast<size_t>(model::element_count(spec)));
    for (float& value : tensor.values) value = static_cast<float>(deviation * rng.gaussian());
  }
  return checkpoint;
}

}  // namespace driftless::bench
