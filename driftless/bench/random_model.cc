// SPDX-License-Identifier: Apache-2.0
#include "driftless/bench/random_model.h"

#include "driftless/model/presets.h"
#include "driftless/store/random_checkpoint.h"

namespace driftless::bench {

store::Checkpoint random_preset(std::string_view name, int64_t width) {
  model::ModelConfig config = model::find_preset(name).config;
  if (width > 0) {
    config.hidden_size = width;
    config.puzzle_emb_ndim = width;
  }
  model::validate(config, "random model");
  return store::random_checkpoint(config, 1);
}

}  // namespace driftless::bench
