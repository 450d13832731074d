// SPDX-License-Identifier: Apache-2.0
// Small valid checkpoints with numbered values, for tests of files.
#pragma once

#include <cstdint>

#include <gtest/gtest.h>

#include "driftless/model/presets.h"
#include "driftless/model/shapes.h"
#include "driftless/store/checkpoint.h"

namespace driftless::store::testing {

inline model::ModelConfig small_config() {
  model::ModelConfig config = model::find_preset("trm-sudoku-mlp-256").config;
  config.hidden_size = 4;
  config.seq_len = 6;
  config.num_layers = 1;
  return config;
}

/// Every value is a different multiple of 1/64 below 32: exact in float16.
inline Checkpoint small_checkpoint(const model::ModelConfig& config) {
  Checkpoint checkpoint{config, {}, {}};
  int64_t next = 0;
  for (const model::ParamSpec& spec : model::parameters(config)) {
    Tensor& tensor = checkpoint.tensors[spec.name];
    tensor.shape = spec.shape;
    for (int64_t i = 0; i < model::element_count(spec); ++i)
      tensor.values.push_back(static_cast<float>(next++ % 2048) / 64 - 16);
  }
  return checkpoint;
}

inline Checkpoint small_checkpoint() { return small_checkpoint(small_config()); }

inline void expect_same(const Checkpoint& a, const Checkpoint& b) {
  EXPECT_EQ(a.config, b.config);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, tensor] : a.tensors) {
    ASSERT_TRUE(b.tensors.contains(name)) << name;
    EXPECT_EQ(tensor.shape, b.tensors.at(name).shape) << name;
    EXPECT_EQ(tensor.values, b.tensors.at(name).values) << name;
  }
}

}  // namespace driftless::store::testing
