// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/torch/torch_file.h"

#include <string>

#include <gtest/gtest.h>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"

#include "tests/store/small_model.h"
#include "tests/store/torch_bytes.h"
#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless::store {
namespace {

using driftless::testing::expect_error;
using driftless::testing::little_endian;
using testing::small_checkpoint;
using testing::TorchArchive;
using testing::zip_bytes;
using testing::ZipEntry;
namespace op = testing::op;

class TorchFile : public ::testing::Test {
 protected:
  TorchModel read(const std::string& file) {
    write_file_atomic(dir_.path() / "step_1", file);
    return read_torch(dir_.path() / "step_1");
  }
  void expect_refused(ErrorCode code, const std::string& word, const std::string& file) {
    expect_error(code, word, [&] { read(file); });
    expect_error(code, "step_1: ", [&] { read(file); });
  }

  driftless::testing::TempDir dir_;
};

void expect_tensors(const TensorMap& got, const TensorMap& expected) {
  const model::ModelConfig config;
  testing::expect_same({config, got, {}}, {config, expected, {}});
}

TEST(TorchNames, WrappersAreDropped) {
  EXPECT_EQ(plain_name("_orig_mod.model.inner.H_init"), "H_init");
  EXPECT_EQ(plain_name("model.inner.L_level.layers.0.mlp.down_proj.weight"),
            "L_level.layers.0.mlp.down_proj.weight");
  EXPECT_EQ(plain_name("model._orig_mod.inner.q_head.bias"), "q_head.bias");
  EXPECT_EQ(plain_name("inner.lm_head.weight"), "lm_head.weight");
  EXPECT_EQ(plain_name("model.lm_head.weight"), "lm_head.weight");
  EXPECT_EQ(plain_name("inner.inner.lm_head.weight"), "lm_head.weight");
  EXPECT_EQ(plain_name("lm_head._orig_mod.weight"), "lm_head.weight");
  EXPECT_EQ(plain_name(""), "");
}

TEST_F(TorchFile, StateDictWithEveryPrefix) {
  const TensorMap tensors = small_checkpoint().tensors;
  for (const char* prefix : {"", "inner.", "model.inner.", "_orig_mod.model.inner."}) {
    TorchArchive archive;
    // PyTorch attaches version numbers to a state dict as an attribute.
    const std::string body = op::ordered_dict(archive.items(tensors, prefix)) +
                             op::dict(op::text("_metadata") + op::ordered_dict("")) + "b";
    const TorchModel model = read(archive.file(body));
    expect_tensors(model.tensors, tensors);
    EXPECT_EQ(model.weights, "state_dict");
    EXPECT_TRUE(model.config.empty());
  }
}

TEST_F(TorchFile, NestedStateDictAndBatchBuffers) {
  const TensorMap tensors = small_checkpoint().tensors;
  TorchArchive archive;
  const std::string buffers = op::text("model.inner.puzzle_emb.local_ids") +
                              op::tensor(op::storage("IntStorage", "none", 4), 0, {4}, {1});
  const auto model = read(
      archive.file(op::dict(op::text("epoch") + "K\x01" + op::text("state_dict") +
                            op::ordered_dict(archive.items(tensors, "model.inner.") + buffers))));
  expect_tensors(model.tensors, tensors);
}

TEST_F(TorchFile, TrainingStateGivesTheAverage) {
  const TensorMap tensors = small_checkpoint().tensors;
  TensorMap trained = tensors;
  TensorMap buffers;
  for (const char* name : {"H_init", "L_init"}) buffers.insert(trained.extract(name));
  TorchArchive archive;
  // What surrounds the weights in EqR's file: optimizer, carry, random states, configuration.
  const std::string array =
      op::global("numpy.core.multiarray", "_reconstruct") +
      op::tuple(op::global("numpy", "ndarray") + op::integers({0}) +
                op::global("_codecs", "encode") + op::tuple(op::text("b") + op::text("latin1")) +
                "R") +
      "R" +
      op::tuple(op::integer(1) + op::global("numpy", "dtype") +
                op::tuple(op::text("u4") + "\x89\x88") + "R" + "\x89" + op::text("bytes")) +
      "b";
  const std::string carry =
      op::global("models.eqr", "ModelCarry") + ")\x81" +
      op::dict(op::text("inner_carry") + op::global("models.eqr", "LatentCarry") + ")\x81" +
               op::dict(op::text("z_H") +
                        op::tensor(op::storage("BFloat16Storage", "zh", 2), 0, {1, 2}, {2, 1})) +
               "b" + op::text("steps") +
               op::tensor(op::storage("IntStorage", "steps", 1), 0, {1}, {1})) +
      "b";
  const std::string config =
      op::dict(op::text("arch") +
               op::dict(op::text("name") + op::text("eqr@EqRModel") + op::text("H_cycles") +
                        "K\x03" + op::text("lambda_") + op::real(0.95) + op::text("mlp_t") +
                        "\x88" + op::text("loss") + op::dict(op::text("name") + op::text("x")) +
                        op::text("board_width") + "N"));
  const std::string body =
      op::dict(op::text("step") + op::integer(50000) + op::text("model") +
               op::ordered_dict(archive.items(trained, "_orig_mod.model.inner.", 100) +
                                archive.items(buffers, "_orig_mod.model.inner.")) +
               op::text("optimizers") + "](" +
               op::dict(op::text("state") + op::dict("K\x01" + op::dict(""))) + "e" +
               op::text("carry") + carry + op::text("numpy") + array + op::text("python") +
               op::tuple("K\x03" + std::string("\x8a\x05\xff\xff\xff\xff\x00", 7) + "N") +
               op::text("config") + config + op::text("ema") +
               op::dict(op::text("mu") + op::real(0.999) + op::text("shadow") +
                        op::dict(archive.items(trained, "model.inner."))));
  const TorchModel model = read(archive.file(body));
  expect_tensors(model.tensors, tensors);
  EXPECT_EQ(model.weights, "ema.shadow");
  EXPECT_EQ(model.config.at("arch.name"), "eqr@EqRModel");
  EXPECT_EQ(model.config.at("arch.H_cycles"), "3");
  EXPECT_EQ(std::stod(model.config.at("arch.lambda_")), 0.95);
  EXPECT_EQ(model.config.at("arch.mlp_t"), "true");
  EXPECT_EQ(model.config.at("arch.board_width"), "");
  EXPECT_EQ(model.config.at("arch.loss.name"), "x");
}

TEST_F(TorchFile, TrainingStateWithoutAverageGivesTheModel) {
  const TensorMap tensors = small_checkpoint().tensors;
  TorchArchive archive;
  const auto model =
      read(archive.file(op::dict(op::text("model") + op::dict(archive.items(tensors, "inner.")))));
  expect_tensors(model.tensors, tensors);
  EXPECT_EQ(model.weights, "state_dict");
}

/// A state dict of one tensor over one storage of three float32: 1, 2, 3.
std::string one_tensor(const std::string& tensor, const std::string& storage_data) {
  return zip_bytes(
      {{"a/data.pkl", op::whole(op::dict(op::text("w") + tensor))}, {"a/data/0", storage_data}});
}

TEST_F(TorchFile, StridedTensorsAreGathered) {
  std::string data;
  for (int i = 0; i < 6; ++i) data += little_endian(static_cast<float>(i));
  const std::string storage = op::storage("FloatStorage", "0", 6);
  const auto transposed = read(one_tensor(op::tensor(storage, 0, {3, 2}, {1, 3}), data));
  EXPECT_EQ(transposed.tensors.at("w").values, (std::vector<float>{0, 3, 1, 4, 2, 5}));
  const auto part = read(one_tensor(op::tensor(storage, 1, {2, 2}, {3, 1}), data));
  EXPECT_EQ(part.tensors.at("w").values, (std::vector<float>{1, 2, 4, 5}));
  const auto scalar = read(one_tensor(op::tensor(storage, 5, {}, {}), data));
  EXPECT_EQ(scalar.tensors.at("w").values, (std::vector<float>{5}));
  const auto empty = read(one_tensor(op::tensor(storage, 0, {0, 4}, {4, 1}), data));
  EXPECT_TRUE(empty.tensors.at("w").values.empty());
}

TEST_F(TorchFile, DamagedStoragesAreRefused) {
  const std::string tensor = op::tensor(op::storage("FloatStorage", "0", 3), 0, {3}, {1});
  const auto bad = ErrorCode::BadFile;
  expect_refused(bad, "storage '0' is too short; got 8 bytes, expected 12",
                 one_tensor(tensor, std::string(8, 'x')));
  expect_refused(bad, "'a/data/1': missing",
                 one_tensor(op::tensor(op::storage("FloatStorage", "1", 3), 0, {3}, {1}), "x"));
  const std::string pickle = op::whole(op::dict(op::text("w") + tensor));
  const auto with_storage = [&](ZipEntry entry) {
    return zip_bytes({{"a/data.pkl", pickle}, std::move(entry)});
  };
  const std::string data(12, 'x');
  EXPECT_NO_THROW(read(with_storage({"a/data/0", data})));
  expect_refused(bad, "checksum", with_storage({"a/data/0", data, 0, 0, 1}));
  expect_refused(bad, "", with_storage({"a/data/0", data, 0, 0x7fffffff}));
  expect_refused(ErrorCode::Unsupported, "compressed", with_storage({"a/data/0", data, 8}));
}

TEST_F(TorchFile, TensorsThatShareAStorageCannotOutgrowTheFile) {
  const std::string storage = op::storage("FloatStorage", "0", 1000);
  std::string items;
  for (int i = 0; i < 20; ++i)
    items += op::text("w" + std::to_string(i)) + op::tensor(storage, 0, {1000}, {1});
  expect_refused(ErrorCode::BadFile, "larger than the file",
                 zip_bytes({{"a/data.pkl", op::whole(op::dict(items))},
                            {"a/data/0", std::string(4000, '\0')}}));
}

TEST_F(TorchFile, OverlappingEntriesCannotOutgrowTheFile) {
  // The directory names one entry's bytes many times.
  const std::string storage(4000, '\0');
  std::string items;
  for (int i = 0; i < 3; ++i)
    items += op::text("w" + std::to_string(i)) +
             op::tensor(op::storage("FloatStorage", std::to_string(i), 1000), 0, {1}, {1});
  const ZipEntry pickle{"a/data.pkl", op::whole(op::dict(items))};
  const std::string local = "PK\x03\x04" + testing::zip_fields(pickle) + pickle.name + pickle.data;
  const auto offset = little_endian(static_cast<uint32_t>(local.size()));
  const ZipEntry shared{"a/data/0", storage};
  std::string directory = "PK\x01\x02" + little_endian(uint16_t{20}) + testing::zip_fields(pickle) +
                          std::string(14, '\0') + pickle.name;
  for (int i = 0; i < 3; ++i)
    directory += "PK\x01\x02" + little_endian(uint16_t{20}) + testing::zip_fields(shared) +
                 std::string(10, '\0') + offset + "a/data/" + std::to_string(i);
  const std::string file =
      local + "PK\x03\x04" + testing::zip_fields(shared) + shared.name + storage;
  const auto count = little_endian(uint16_t{4});
  expect_refused(ErrorCode::BadFile, "larger than what is left of the file",
                 file + directory + "PK\x05\x06" + std::string(4, '\0') + count + count +
                     little_endian(static_cast<uint32_t>(directory.size())) +
                     little_endian(static_cast<uint32_t>(file.size())) + std::string(2, '\0'));
}

TEST_F(TorchFile, EveryTruncationIsRefused) {
  const std::string whole = one_tensor(op::tensor(op::storage("FloatStorage", "0", 3), 0, {3}, {1}),
                                       std::string(12, 'x'));
  EXPECT_NO_THROW(read(whole));
  for (size_t length = 0; length < whole.size(); length += 3)
    EXPECT_THROW(read(whole.substr(0, length)), Error) << length;
}

TEST_F(TorchFile, WrongContentsAreRefused) {
  const auto bad = ErrorCode::BadFile;
  const auto pickle = [](const std::string& body) {
    return zip_bytes({{"a/data.pkl", op::whole(body)}});
  };
  expect_refused(bad, "not a readable zip archive", "");
  expect_refused(bad, "not a readable zip archive", std::string(100, 'x'));
  expect_refused(bad, "no data.pkl", zip_bytes({{"a/b/data.pkl", ""}, {"data.pkl", ""}}));
  expect_refused(bad, "more than one data.pkl",
                 zip_bytes({{"a/data.pkl", ""}, {"b/data.pkl", ""}}));
  expect_refused(bad, "data.pkl: ", pickle("t"));
  expect_refused(bad, "the state dict is missing", pickle("N"));
  expect_refused(bad, "not text", pickle(op::dict("NN")));
  expect_refused(bad, "'w': not a tensor", pickle(op::dict(op::text("w") + "N")));
  expect_refused(bad, "'model' is missing", pickle(op::dict(op::text("model") + "N")));
  expect_refused(bad, "'ema.shadow' is missing",
                 pickle(op::dict(op::text("model") + "}" + op::text("ema") + "}")));
  expect_refused(ErrorCode::Unsupported, "'os.system'",
                 pickle(op::global("os", "system") + op::tuple(op::text("true")) + "R"));
  expect_refused(ErrorCode::Unsupported, "byte order; got 'big'",
                 zip_bytes({{"a/data.pkl", ""}, {"a/byteorder", "big"}}));
}

TEST_F(TorchFile, RepeatedNamesAndIntegerWeightsAreRefused) {
  const std::string tensor = op::tensor(op::storage("FloatStorage", "0", 3), 0, {3}, {1});
  const std::string data(12, 'x');
  const auto file = [&](const std::string& items) {
    return zip_bytes({{"a/data.pkl", op::whole(op::dict(items))}, {"a/data/0", data}});
  };
  expect_refused(ErrorCode::BadFile, "a second tensor with the name 'w'",
                 file(op::text("inner.w") + tensor + op::text("model.inner.w") + tensor));
  expect_refused(ErrorCode::Unsupported, "'w': wrong element type; got I32",
                 file(op::text("w") + op::tensor(op::storage("IntStorage", "0", 3), 0, {3}, {1})));
}

}  // namespace
}  // namespace driftless::store
