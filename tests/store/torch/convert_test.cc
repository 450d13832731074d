// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/torch/convert.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/store/torch/yaml.h"

#include "tests/store/npy_bytes.h"
#include "tests/store/small_model.h"
#include "tests/store/torch_bytes.h"
#include "tests/testing/expect_error.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/temp_dir.h"

namespace driftless::store {
namespace {

using driftless::testing::expect_error;
using driftless::testing::little_endian;
using testing::expect_same;
using testing::npy_bytes;
using testing::small_checkpoint;
using testing::TorchArchive;
namespace op = testing::op;

class Convert : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((dir_.path() / name).parent_path());
    write_file_atomic(dir_.path() / name, text);
  }
  ConvertedKind run(const std::string& in, const ImportOptions& options = {}) {
    return convert(dir_.path() / in, dir_.path() / "out.safetensors", options).kind;
  }
  /// What convert says of a model.
  std::string found(const std::string& in, const std::string& what) {
    std::string text;
    for (const Finding& finding :
         convert(dir_.path() / in, dir_.path() / "out.safetensors", {}).found)
      if (finding.what == what) text += finding.text;
    return text;
  }
  Checkpoint out() { return load_checkpoint(dir_.path() / "out.safetensors"); }

  /// Whether this build reads YAML.
  static bool has_libraries() {
    const driftless::testing::TempDir dir;
    write_file_atomic(dir.path() / "x", "PK\x03\x04");
    try {
      parse_yaml("", "");
      import_model(dir.path() / "x", {});
    } catch (const Error& error) {
      return error.code() != ErrorCode::Unsupported;
    }
    return true;
  }

  driftless::testing::TempDir dir_;
};

/// The small model with the cells and vocabulary of Sudoku, so that shapes tell its task.
model::ModelConfig sudoku_config() {
  model::ModelConfig config = testing::small_config();
  config.seq_len = 81;
  return config;
}

std::string torch_bytes(const Checkpoint& checkpoint) {
  TorchArchive archive;
  return archive.file(
      op::ordered_dict(archive.items(checkpoint.tensors, "_orig_mod.model.inner.")));
}

ImportOptions cycles() {
  ImportOptions options;
  options.h_cycles = 3;
  options.l_cycles = 6;
  return options;
}

TEST_F(Convert, TorchFileWithFlags) {
  if (!has_libraries()) GTEST_SKIP() << "built without yaml-cpp";
  const Checkpoint checkpoint = small_checkpoint(sudoku_config());
  put("step_1", torch_bytes(checkpoint));
  EXPECT_EQ(run("step_1", cycles()), ConvertedKind::Model);
  expect_same(out(), checkpoint);
  EXPECT_EQ(out().metadata, (Metadata{{"weights", "state_dict"}}));
  expect_error(ErrorCode::BadConfig, "step_1: shapes do not tell the outer cycles",
               [&] { run("step_1"); });
}

TEST_F(Convert, TorchFileWithConfigurationBesideIt) {
  if (!has_libraries()) GTEST_SKIP() << "built without yaml-cpp";
  const Checkpoint checkpoint = small_checkpoint(sudoku_config());
  put("run/step_1", torch_bytes(checkpoint));
  put("run/all_config.yaml",
      "arch:\n  H_cycles: 3\n  L_cycles: 6\n  L_layers: 1\n  hidden_size: 4\n  expansion: 4\n"
      "  name: recursive_reasoning.trm@TinyRecursiveReasoningModel_ACTV1\n"
      "  pos_encodings: none\ndata_paths:\n- data/sudoku\n");
  run("run/step_1");
  expect_same(out(), checkpoint);
  put("run/all_config.yaml", "arch: [");
  expect_error(ErrorCode::BadFile, "all_config.yaml: not valid YAML", [&] { run("run/step_1"); });
}

constexpr const char* kTrmYaml =
    "arch:\n  H_cycles: 3\n  L_cycles: 6\n"
    "  name: recursive_reasoning.trm@TinyRecursiveReasoningModel_ACTV1\n"
    "data_paths:\n- data/sudoku\nema: true\n";

TEST_F(Convert, SaysWhatItFound) {
  if (!has_libraries()) GTEST_SKIP() << "built without yaml-cpp";
  put("step_1", torch_bytes(small_checkpoint(sudoku_config())));
  put("all_config.yaml", kTrmYaml);
  EXPECT_EQ(found("step_1", "architecture"), "trm, token mixer without positions");
  EXPECT_NE(found("step_1", "sizes").find("width 4, blocks 1, tokens 11, cells 81"),
            std::string::npos);
  EXPECT_EQ(found("step_1", "recursion"), "3 x 6 cycles, 16 steps");
  EXPECT_EQ(found("step_1", "task"), "sudoku");
  EXPECT_EQ(found("step_1", "weights"), "averaged (saved with ema: true)");
  EXPECT_EQ(found("step_1", "configuration"), (dir_.path() / "all_config.yaml").string());
  EXPECT_EQ(found("step_1", "assumed"), "");
}

TEST_F(Convert, TheConfigurationMayLieElsewhere) {
  if (!has_libraries()) GTEST_SKIP() << "built without yaml-cpp";
  const Checkpoint checkpoint = small_checkpoint(sudoku_config());
  put("step_1", torch_bytes(checkpoint));
  put("all_config.yaml", "arch: {H_cycles: 9, L_cycles: 9}");
  put("elsewhere/run.yaml", kTrmYaml);
  put("elsewhere/arch.yaml", "H_cycles: 3\nL_cycles: 6\n");
  for (const char* name : {"run.yaml", "arch.yaml"}) {
    ImportOptions options;
    options.config = dir_.path() / "elsewhere" / name;
    run("step_1", options);
    expect_same(out(), checkpoint);
    run("out.safetensors", options);
    expect_same(out(), checkpoint);
  }
}

TEST_F(Convert, FixedPositionsAreKeptAsLearnedOnes) {
  if (!has_libraries()) GTEST_SKIP() << "built without yaml-cpp";
  model::ModelConfig config = sudoku_config();
  config.positions = model::Positions::Learned;
  const Checkpoint checkpoint = small_checkpoint(config);
  TensorMap saved = checkpoint.tensors;
  auto table = saved.extract("embed_pos.embedding_weight");
  table.key() = "absolute_pos_embedding";
  saved.insert(std::move(table));
  TensorMap shadow = saved;
  for (const char* name : {"absolute_pos_embedding", "H_init", "L_init"}) shadow.erase(name);
  TorchArchive archive;
  const auto text = [](const char* key, const char* value) {
    return op::text(key) + op::text(value);
  };
  put("trm.pth",
      archive.file(op::dict(
          op::text("model") + op::dict(archive.items(saved, "model.inner.")) + op::text("config") +
          op::dict(op::text("arch") +
                   op::dict(text("name", "trm@TRMModel") + text("pos_encodings", "absolute") +
                            op::text("H_cycles") + "K\x03" + op::text("L_cycles") + "K\x06")) +
          op::text("ema") +
          op::dict(op::text("shadow") + op::dict(archive.items(shadow, "model.inner."))))));
  run("trm.pth");
  expect_same(out(), checkpoint);
}

TEST_F(Convert, TablesOfRotationsAreLeftOut) {
  if (!has_libraries()) GTEST_SKIP() << "built without yaml-cpp";
  const Checkpoint checkpoint = small_checkpoint(sudoku_config());
  Checkpoint saved = checkpoint;
  saved.tensors["rotary_emb.cos_cached"] = {{2, 2}, {1, 1, 1, 1}};
  saved.tensors["rotary_emb.inv_freq"] = {{1}, {1}};
  put("step_1", torch_bytes(saved));
  put("all_config.yaml", kTrmYaml);
  run("step_1");
  expect_same(out(), checkpoint);
}

TEST_F(Convert, TrainingStateCarriesItsConfiguration) {
  if (!has_libraries()) GTEST_SKIP() << "built without yaml-cpp";
  model::ModelConfig config = sudoku_config();
  config.arch = model::Arch::Eqr;
  config.noise_scale = 0.25;
  const Checkpoint checkpoint = small_checkpoint(config);
  TorchArchive archive;
  put("eqr.pth",
      archive.file(op::dict(
          op::text("model") + op::ordered_dict(archive.items(checkpoint.tensors, "inner.", 1)) +
          op::text("config") +
          op::dict(op::text("arch") +
                   op::dict(op::text("name") + op::text("eqr@EqRModel") + op::text("H_cycles") +
                            "K\x03" + op::text("L_cycles") + "K\x06" + op::text("noise_scale") +
                            op::real(0.25))) +
          op::text("ema") +
          op::dict(op::text("shadow") +
                   op::dict(archive.items(checkpoint.tensors, "model.inner."))))));
  run("eqr.pth");
  expect_same(out(), checkpoint);
  EXPECT_EQ(out().metadata.at("weights"), "ema.shadow");
}

TEST_F(Convert, MissingAndExtraTensorsAreNamed) {
  if (!has_libraries()) GTEST_SKIP() << "built without yaml-cpp";
  Checkpoint checkpoint = small_checkpoint(sudoku_config());
  checkpoint.tensors.erase("q_head.bias");
  put("step_1", torch_bytes(checkpoint));
  expect_error(ErrorCode::BadFile, "'q_head.bias': missing; expected [2]",
               [&] { run("step_1", cycles()); });
  checkpoint = small_checkpoint(sudoku_config());
  checkpoint.tensors["L_level.gate"] = {{1}, {1}};
  put("step_1", torch_bytes(checkpoint));
  expect_error(ErrorCode::BadFile, "'L_level.gate': the configuration has no such tensor",
               [&] { run("step_1", cycles()); });
}

TEST_F(Convert, SafetensorsWithAndWithoutConfiguration) {
  const Checkpoint checkpoint = small_checkpoint(sudoku_config());
  save_checkpoint(dir_.path() / "m.safetensors", checkpoint);
  ImportOptions options;
  options.steps = 64;
  run("m.safetensors", options);
  Checkpoint longer = checkpoint;
  longer.config.halt_max_steps = 64;
  expect_same(out(), longer);

  std::map<std::string, TensorView> views;
  for (const auto& [name, tensor] : checkpoint.tensors)
    views["model.inner." + name] = {DType::F32, tensor.shape,
                                    std::as_bytes(std::span(tensor.values))};
  const std::vector<int64_t> ids = {7};
  views["model.inner.puzzle_emb.local_ids"] = {DType::I64, {1}, std::as_bytes(std::span(ids))};
  write_safetensors(dir_.path() / "bare.safetensors", views, {});
  run("bare.safetensors", cycles());
  expect_same(out(), checkpoint);
  views["inner.H_init"] = views["model.inner.H_init"];
  write_safetensors(dir_.path() / "bare.safetensors", views, {});
  expect_error(ErrorCode::BadFile, "a second tensor with the name 'H_init'",
               [&] { run("bare.safetensors", cycles()); });
}

TEST_F(Convert, ConfigurationsMayBeOverruledOnlyWhereTheyStayValid) {
  save_checkpoint(dir_.path() / "m.safetensors", small_checkpoint());
  ImportOptions options;
  options.positions = model::Positions::Rope;
  expect_error(ErrorCode::BadConfig, "token mixer", [&] { run("m.safetensors", options); });
}

TEST_F(Convert, NpyArray) {
  put("values.npy",
      npy_bytes("<i8", "(2,)", little_endian(int64_t{3}) + little_endian(int64_t{-1})));
  EXPECT_EQ(run("values.npy"), ConvertedKind::Array);
  const auto file = read_safetensors(dir_.path() / "out.safetensors");
  EXPECT_EQ(file.tensors().at("values").dtype, DType::I64);
  EXPECT_EQ(file.tensors().at("values").shape, (std::vector<int64_t>{2}));
  expect_error(ErrorCode::BadFile, "not a model",
               [&] { import_model(dir_.path() / "values.npy", {}); });
}

TEST_F(Convert, DatasetFolder) {
  const auto ints = [](std::initializer_list<int32_t> values) {
    std::string data;
    for (const int32_t value : values) data += little_endian(value);
    return npy_bytes("<i4", "(" + std::to_string(values.size()) + ",)", data);
  };
  put("data/test/dataset.json",
      R"({"pad_id": 0, "ignore_label_id": 0, "blank_identifier_id": 0, "vocab_size": 11,)"
      R"( "seq_len": 2, "num_puzzle_identifiers": 1, "total_groups": 1,)"
      R"( "mean_puzzle_examples": 1, "sets": ["all"]})");
  put("data/test/all__inputs.npy", npy_bytes("|u1", "(1, 2)", "\x01\x02"));
  put("data/test/all__labels.npy", npy_bytes("|u1", "(1, 2)", "\x03\x04"));
  put("data/test/all__puzzle_identifiers.npy", ints({0}));
  put("data/test/all__puzzle_indices.npy", ints({0, 1}));
  put("data/test/all__group_indices.npy", ints({0, 1}));
  put("data/identifiers.json", R"(["<blank>"])");
  EXPECT_EQ(run("data"), ConvertedKind::Dataset);
  const auto file = read_safetensors(dir_.path() / "out.safetensors");
  ASSERT_EQ(file.tensors().size(), 5u);
  EXPECT_EQ(file.tensors().at("test.labels").bytes[1], std::byte{4});
  EXPECT_EQ(file.tensors().at("test.inputs").shape, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(file.metadata().at("identifiers"), R"(["<blank>"])");
  EXPECT_NE(file.metadata().at("test").find("\"vocab_size\":11"), std::string::npos);
  std::filesystem::create_directory(dir_.path() / "nothing");
  expect_error(ErrorCode::BadFile, "no data set", [&] { run("nothing"); });
}

TEST_F(Convert, OtherFilesAreRefused) {
  put("old.pt",
      "\x80\x02\x8a\x0a"
      "l\xfc\x9c"
      "F");
  expect_error(ErrorCode::Unsupported, "old format", [&] { run("old.pt"); });
  put("text", "hello world, this is no model");
  expect_error(ErrorCode::BadFile, "not a safetensors file", [&] { run("text"); });
  expect_error(ErrorCode::Io, "absent", [&] { run("absent"); });
}

TEST_F(Convert, PublishedCheckpointIsUnchanged) {
  const auto path = driftless::testing::shared_path("checkpoints/sudoku-mlp-256.safetensors");
  DRIFTLESS_NEEDS_FILE(path);
  convert(path, dir_.path() / "out.safetensors", {}, DType::F16);
  expect_same(out(), load_checkpoint(path));
}

TEST_F(Convert, AnArrayWithNanIsRefused) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  put("a.npy", npy_bytes("<f4", "(2,)", little_endian(1.0f) + little_endian(nan)));
  expect_error(ErrorCode::Numeric, "a.npy: not a finite number; got nan at element 1",
               [&] { run("a.npy"); });
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "out.safetensors"));
}

TEST_F(Convert, ALargeFileThatIsNoModelIsRefusedByItsHeader) {
  constexpr uint64_t kBytes = uint64_t{1} << 40;  // a hole in the file, more than any memory
  const std::string header = R"({"a":{"dtype":"U8","shape":[1099511627776],)"
                             R"("data_offsets":[0,1099511627776]}})";
  put("large", little_endian(uint64_t{header.size()}) + header);
  std::error_code error;
  std::filesystem::resize_file(dir_.path() / "large", 8 + header.size() + kBytes, error);
  if (error) GTEST_SKIP() << "no file of that size here: " << error.message();
  expect_error(ErrorCode::BadFile, "is this a recursive reasoner", [&] { run("large"); });
  expect_error(ErrorCode::BadFile, "is this a recursive reasoner",
               [&] { open_model(dir_.path() / "large"); });
}

}  // namespace
}  // namespace driftless::store
