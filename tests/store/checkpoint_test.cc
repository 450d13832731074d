// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/checkpoint.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "driftless/base/error.h"
#include "driftless/model/config_json.h"
#include "driftless/model/presets.h"
#include "driftless/model/shapes.h"

#include "tests/store/small_model.h"
#include "tests/testing/expect_error.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/temp_dir.h"

namespace driftless::store {
namespace {

using driftless::testing::expect_error;
using testing::expect_same;
using testing::small_checkpoint;

TEST(Checkpoint, RoundTripsInEveryWeightType) {
  const driftless::testing::TempDir dir;
  Checkpoint checkpoint = small_checkpoint();
  checkpoint.metadata["note"] = "made by a test";
  for (const DType dtype : {DType::F32, DType::F16}) {
    save_checkpoint(dir.path() / "m.safetensors", checkpoint, dtype);
    const Checkpoint loaded = load_checkpoint(dir.path() / "m.safetensors");
    expect_same(loaded, checkpoint);
    EXPECT_EQ(loaded.metadata, checkpoint.metadata);
  }
  save_checkpoint(dir.path() / "m.safetensors", checkpoint, DType::BF16);
  const Checkpoint rounded = load_checkpoint(dir.path() / "m.safetensors");
  EXPECT_EQ(rounded.tensors.at("H_init").values, checkpoint.tensors.at("H_init").values);
  for (const auto& [name, tensor] : checkpoint.tensors)
    for (size_t i = 0; i < tensor.values.size(); ++i)
      // bfloat16 keeps 8 significant bits: half a step is 2^-9 of the value.
      EXPECT_LE(std::abs(rounded.tensors.at(name).values[i] - tensor.values[i]),
                std::abs(tensor.values[i]) * 0x1p-8f);
}

TEST(Checkpoint, EveryMissingTensorIsNamed) {
  const Checkpoint whole = small_checkpoint();
  for (const auto& [name, tensor] : whole.tensors) {
    TensorMap tensors = whole.tensors;
    tensors.erase(name);
    expect_error(ErrorCode::BadFile,
                 "f: tensor '" + name + "': missing; expected " + shape_text(tensor.shape),
                 [&] { require_complete(whole.config, tensors, "f"); });
  }
}

TEST(Checkpoint, ExtraAndMisshapenTensorsAreNamed) {
  Checkpoint extra = small_checkpoint();
  extra.tensors["lm_head.bias"] = {{2}, {0, 0}};
  expect_error(ErrorCode::BadFile, "'lm_head.bias': the configuration has no such tensor",
               [&] { require_complete(extra.config, extra.tensors, "f"); });
  Checkpoint misshapen = small_checkpoint();
  misshapen.tensors["q_head.weight"].shape = {4, 2};
  expect_error(ErrorCode::BadFile, "'q_head.weight': wrong shape; got [4, 2], expected [2, 4]",
               [&] { require_complete(misshapen.config, misshapen.tensors, "f"); });
  Checkpoint cut = small_checkpoint();
  cut.tensors["q_head.weight"].values.pop_back();
  expect_error(ErrorCode::BadFile, "values do not match",
               [&] { require_complete(cut.config, cut.tensors, "f"); });
}

TEST(Checkpoint, NonFiniteWeightsAreNamed) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    Checkpoint checkpoint = small_checkpoint();
    checkpoint.tensors["lm_head.weight"].values[3] = bad;
    expect_error(ErrorCode::Numeric, "at element 3",
                 [&] { require_complete(checkpoint.config, checkpoint.tensors, "f"); });
  }
}

TEST(Checkpoint, SavingChecksFirst) {
  const driftless::testing::TempDir dir;
  Checkpoint missing = small_checkpoint();
  missing.tensors.erase("H_init");
  EXPECT_THROW(save_checkpoint(dir.path() / "m", missing), Error);
  Checkpoint large = small_checkpoint();
  large.tensors["q_head.bias"].values[0] = 1e6f;
  expect_error(ErrorCode::Numeric, "'q_head.bias': value 0 does not fit F16",
               [&] { save_checkpoint(dir.path() / "m", large, DType::F16); });
  expect_error(ErrorCode::Unsupported, "U8",
               [&] { save_checkpoint(dir.path() / "m", small_checkpoint(), DType::U8); });
  EXPECT_EQ(dir.entry_count(), 0);
}

TEST(Checkpoint, AFileWithoutConfigurationSaysSo) {
  const driftless::testing::TempDir dir;
  write_safetensors(dir.path() / "m", {}, {{"format", "pt"}});
  expect_error(ErrorCode::BadConfig, "no configuration",
               [&] { load_checkpoint(dir.path() / "m"); });
  write_safetensors(dir.path() / "m", {}, {{"config", "{}"}});
  expect_error(ErrorCode::BadConfig, "missing key 'arch'",
               [&] { load_checkpoint(dir.path() / "m"); });
}

TEST(Checkpoint, IntegerWeightsAreRefused) {
  const driftless::testing::TempDir dir;
  const std::vector<std::byte> bytes(4);
  write_safetensors(dir.path() / "m", {{"H_init", {DType::I32, {1}, bytes}}},
                    {{"config", model::config_to_json(testing::small_config())}});
  expect_error(ErrorCode::Unsupported, "'H_init': wrong element type; got I32",
               [&] { load_checkpoint(dir.path() / "m"); });
}

TEST(Checkpoint, PublishedCheckpointLoads) {
  const auto path = driftless::testing::shared_path("checkpoints/sudoku-mlp-256.safetensors");
  DRIFTLESS_NEEDS_FILE(path);
  const Checkpoint checkpoint = load_checkpoint(path);
  EXPECT_EQ(checkpoint.config, model::find_preset("trm-sudoku-mlp-256").config);
  int64_t values = 0;
  for (const auto& [name, tensor] : checkpoint.tensors)
    values += static_cast<int64_t>(tensor.values.size());
  EXPECT_EQ(values, model::trainable_count(checkpoint.config) + 2 * 256);
  EXPECT_EQ(checkpoint.metadata, (Metadata{{"format", "pt"}}));
  const driftless::testing::TempDir dir;
  save_checkpoint(dir.path() / "again", checkpoint, DType::F16);
  expect_same(load_checkpoint(dir.path() / "again"), checkpoint);
}

}  // namespace
}  // namespace driftless::store
