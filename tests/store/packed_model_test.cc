// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/packed_model.h"

#include <functional>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"
#include "driftless/quant/plan/planned_layer.h"
#include "driftless/reason/plan/linear_layers.h"

#include "tests/store/small_model.h"
#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless::store {
namespace {

using driftless::testing::TempDir;

quant::QuantPlan plan_of(const char* weights, const char* acts) {
  return quant::resolve({.weights = quant::parse_quant_spec(weights),
                         .acts = quant::parse_quant_spec(acts),
                         .coverage = quant::Coverage::Linear},
                        reason::linear_layers(testing::small_config()));
}

/// A file in pieces that a test changes; the hash is that of the pieces unless it says otherwise.
struct Pieces {
  Metadata metadata;
  std::map<std::string, std::vector<std::byte>> bytes;
  std::map<std::string, TensorView> tensors;

  explicit Pieces(const Safetensors& file) : metadata(file.metadata()) {
    for (const auto& [name, view] : file.tensors()) {
      bytes[name].assign(view.bytes.begin(), view.bytes.end());
      tensors[name] = {view.dtype, view.shape, {}};
    }
  }
  void save(const std::filesystem::path& path, bool has_right_hash = true) {
    for (auto& [name, view] : tensors) view.bytes = bytes[name];
    if (has_right_hash) metadata["content_sha256"] = content_sha256(metadata, tensors);
    write_safetensors(path, tensors, metadata);
  }
};

const std::string kWeight = "L_level.layers.0.mlp.down_proj.weight";

/// Through a file and back: the same plan, and each weight's values as its layer multiplies them.
void expect_survives(const Checkpoint& checkpoint, const quant::QuantPlan& plan) {
  const TempDir dir;
  const auto path = dir.path() / "packed.safetensors";
  PackedModel packed = pack_model(checkpoint, plan);
  packed.source_sha256 = std::string(64, 'a');
  save_packed(path, packed);
  EXPECT_TRUE(is_packed(path));
  const PackedModel loaded = load_packed(path);
  EXPECT_EQ(loaded.config, packed.config);
  for (const quant::LayerPlan& layer : packed.plan.layers)
    EXPECT_EQ(*loaded.plan.find(layer.name), layer);
  EXPECT_EQ(loaded.source_sha256, packed.source_sha256);
  ASSERT_EQ(loaded.weights.size(), packed.weights.size());
  for (const auto& [name, tensor] : packed.tensors)
    EXPECT_EQ(loaded.tensors.at(name).values, tensor.values) << name;
  for (const auto& [name, weight] : packed.weights) {
    const Tensor& source = checkpoint.tensors.at(name);
    const quant::ConstMat matrix{source.values.data(), source.shape[0], source.shape[1]};
    const quant::PlannedLayer layer(*packed.plan.find(name), matrix);
    EXPECT_EQ(decoded(loaded.weights.at(name)).values, layer.multiplied_weight(matrix)) << name;
  }
}

TEST(PackedModel, SurvivesItsFile) {
  for (const char* weights : {"mxint4,window=4", "mxint4,rule=mse", "mxint8", "int8/channel",
                              "uint4/group32", "nvfp4", "int3/tensor", "int4/block32,scale=e5m3",
                              "int4/block16,scale=e4m4,rule=mse", "fp4_e2m1/block32,scale=fp16"}) {
    SCOPED_TRACE(weights);
    expect_survives(testing::small_checkpoint(), plan_of(weights, "mxint4,window=4"));
  }
}

TEST(PackedModel, KeepsLearnedStepsOfWeights) {
  quant::QuantPlan plan = plan_of("int4/tensor", "int4/tensor/static");
  for (quant::LayerPlan& layer : plan.layers) {
    layer.weights.source = quant::Source::Static;
    layer.weight_scales = {{.scale = 0.03125f}};
    layer.scales = {{.scale = 0.5f}};
  }
  expect_survives(testing::small_checkpoint(), plan);
}

TEST(PackedModel, TakesFourAndAQuarterBits) {
  model::ModelConfig config = testing::small_config();
  config.hidden_size = 64;
  const PackedModel packed =
      pack_model(testing::small_checkpoint(config),
                 quant::resolve({.weights = quant::parse_quant_spec("mxint4")},
                                reason::linear_layers(config)));
  const PackedWeight& weight = packed.weights.at(kWeight);
  const auto bytes = weight.matrix.bytes.size() + weight.matrix.scales.codes.size();
  EXPECT_EQ(
      static_cast<double>(8 * bytes) / static_cast<double>(weight.matrix.rows * weight.matrix.cols),
      4.25);
}

TEST(PackedModel, KeepsSmoothingAndRotation) {
  const TempDir dir;
  const Checkpoint checkpoint = testing::small_checkpoint();
  quant::QuantPlan plan = plan_of("mxint4", "mxint4");
  for (quant::LayerPlan& layer : plan.layers) {
    layer.smooth = 0.5;
    layer.hadamard = true;
    const auto inputs = static_cast<size_t>(checkpoint.tensors.at(layer.name).shape[1]);
    layer.input_absmax.assign(inputs, 2.0f);
  }
  save_packed(dir.path() / "p", pack_model(checkpoint, plan));
  const PackedModel loaded = load_packed(dir.path() / "p");
  const Tensor& source = checkpoint.tensors.at(kWeight);
  const quant::ConstMat matrix{source.values.data(), source.shape[0], source.shape[1]};
  const quant::PlannedLayer layer(*plan.find(kWeight), matrix);
  const PackedWeight& weight = loaded.weights.at(kWeight);
  EXPECT_EQ(decoded(weight).values, layer.multiplied_weight(matrix));
  EXPECT_TRUE(std::equal(weight.factors.begin(), weight.factors.end(), layer.factors().begin(),
                         layer.factors().end()));
}

TEST(PackedModel, RefusesWhatCannotBePacked) {
  EXPECT_ERROR((void)pack_model(testing::small_checkpoint(), plan_of("bf16", "mxint4")),
               ErrorCode::Unsupported, "at most 8 bits");
}

TEST(PackedModel, RefusesWhateverDisagrees) {
  const TempDir dir;
  const auto path = dir.path() / "packed.safetensors";
  save_packed(path, pack_model(testing::small_checkpoint(), plan_of("mxint4,window=4", "mxint4")));
  const std::string scales = kWeight + ".scales";
  const std::string codes = kWeight + ".codes";
  struct Case {
    const char* word;
    ErrorCode code;
    std::function<void(Pieces&)> change;
  };
  const Case cases[] = {
      {"missing", ErrorCode::BadFile, [&](Pieces& p) { p.tensors.erase(scales); }},
      {"missing", ErrorCode::BadFile, [&](Pieces& p) { p.tensors.erase("H_init"); }},
      {"wrong shape", ErrorCode::BadFile,
       [&](Pieces& p) {
         p.tensors[scales].shape[0] -= 1;
         p.bytes[scales].resize(p.bytes[scales].size() / 4 * 3);
       }},
      {"wrong shape", ErrorCode::BadFile,
       [&](Pieces& p) {
         p.tensors[codes].shape[1] += 1;
         p.bytes[codes].resize(p.bytes[codes].size() +
                               static_cast<size_t>(p.tensors[codes].shape[0]));
       }},
      {"element type", ErrorCode::BadFile, [&](Pieces& p) { p.tensors[codes].dtype = DType::I8; }},
      {"NaN", ErrorCode::BadFile, [&](Pieces& p) { p.bytes[scales][0] = std::byte{255}; }},
      {"neither", ErrorCode::BadFile,
       [&](Pieces& p) {
         p.tensors["more"] = {DType::U8, {1}, {}};
         p.bytes["more"].resize(1);
       }},
      {"plan", ErrorCode::BadConfig, [](Pieces& p) { p.metadata["plan"] = "{}"; }},
      {"missing", ErrorCode::BadFile,
       [](Pieces& p) { p.metadata["plan"] = R"({"version": 1, "layers": {}})"; }},
      {"without the metadata key 'plan'", ErrorCode::BadFile,
       [](Pieces& p) { p.metadata.erase("plan"); }},
      {"config", ErrorCode::BadConfig, [](Pieces& p) { p.metadata["config"] = "[]"; }},
      {"version", ErrorCode::Unsupported, [](Pieces& p) { p.metadata["packed"] = "2"; }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.word);
    Pieces pieces(read_safetensors(path));
    c.change(pieces);
    pieces.save(dir.path() / "changed");
    EXPECT_ERROR((void)load_packed(dir.path() / "changed"), c.code, c.word);
  }
  Pieces pieces(read_safetensors(path));
  pieces.bytes[codes][0] ^= std::byte{1};
  pieces.save(dir.path() / "changed", false);
  EXPECT_ERROR((void)load_packed(dir.path() / "changed"), ErrorCode::BadFile, "hash");
  pieces = Pieces(read_safetensors(path));
  pieces.metadata["source_sha256"] = "other";
  pieces.save(dir.path() / "changed", false);
  EXPECT_ERROR((void)load_packed(dir.path() / "changed"), ErrorCode::BadFile, "hash");
}

TEST(PackedModel, RefusesEveryCutFile) {
  const TempDir dir;
  const auto path = dir.path() / "packed.safetensors";
  save_packed(path, pack_model(testing::small_checkpoint(), plan_of("mxint4", "mxint4")));
  const std::vector<std::byte> whole = read_file(path);
  for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 30) {
    write_file_atomic(dir.path() / "cut", std::span(whole).first(size));
    EXPECT_ERROR((void)load_packed(dir.path() / "cut"), ErrorCode::BadFile, "cut");
  }
}

}  // namespace
}  // namespace driftless::store
