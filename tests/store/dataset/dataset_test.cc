// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/dataset/dataset.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"

#include "tests/store/npy_bytes.h"
#include "tests/testing/bytes.h"
#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless::store {
namespace {

using driftless::testing::expect_error;
using driftless::testing::little_endian;
using testing::npy_bytes;

std::string int32_array(std::initializer_list<int32_t> values) {
  std::string data;
  for (const int32_t value : values) data += little_endian(value);
  return npy_bytes("<i4", "(" + std::to_string(values.size()) + ",)", data);
}

/// Three boards of two cells in two puzzles of one group; int64 inputs, byte labels.
class DatasetFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(dir_.path() / "train");
    put("train/dataset.json",
        R"({"pad_id": 0, "ignore_label_id": 0, "blank_identifier_id": 0, "vocab_size": 11,)"
        R"( "seq_len": 2, "num_puzzle_identifiers": 2, "total_groups": 1,)"
        R"( "mean_puzzle_examples": 1.5, "total_puzzles": 2, "sets": ["all"]})");
    std::string inputs;
    for (const int64_t token : {1, 2, 3, 4, 5, 10}) inputs += little_endian(token);
    put("train/all__inputs.npy", npy_bytes("<i8", "(3, 2)", inputs));
    put("train/all__labels.npy", npy_bytes("|u1", "(3, 2)", "\x02\x03\x04\x05\x06\x07"));
    put("train/all__puzzle_identifiers.npy", int32_array({0, 1}));
    put("train/all__puzzle_indices.npy", int32_array({0, 1, 3}));
    put("train/all__group_indices.npy", int32_array({0, 2}));
    put("identifiers.json", R"(["<blank>", "task|||t1|||0123456789"])");
  }

  void put(const std::string& name, const std::string& text) {
    write_file_atomic(dir_.path() / name, text);
  }
  PuzzleDataset read() { return read_dataset(dir_.path(), "train"); }
  void expect_refused(const std::string& word, ErrorCode code = ErrorCode::BadFile) {
    expect_error(code, word, [this] { read(); });
  }

  driftless::testing::TempDir dir_;
};

TEST_F(DatasetFolder, WhatWasWrittenHalfIsNoDataSet) {
  const PuzzleDataset set = read();
  const auto labels = dir_.path() / "train" / "all__labels.npy";
  std::filesystem::remove(labels);
  std::filesystem::create_directory(labels);
  expect_error(ErrorCode::Io, "all__labels.npy", [&] { write_dataset(dir_.path(), "train", set); });
  EXPECT_FALSE(is_dataset(dir_.path()));
  std::filesystem::remove(labels);
  write_dataset(dir_.path(), "train", set);
  EXPECT_EQ(read().labels, set.labels);
}

TEST_F(DatasetFolder, ReadsAllParts) {
  const PuzzleDataset set = read();
  EXPECT_EQ(set.vocab_size, 11);
  EXPECT_EQ(set.seq_len, 2);
  EXPECT_EQ(set.ignore_label_id, 0);
  EXPECT_EQ(set.inputs, (std::vector<uint8_t>{1, 2, 3, 4, 5, 10}));
  EXPECT_EQ(set.labels, (std::vector<uint8_t>{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(set.puzzle_indices, (std::vector<int64_t>{0, 1, 3}));
  EXPECT_EQ(set.row_count(), 3);
  EXPECT_EQ(set.identifiers.at(1), "task|||t1|||0123456789");
}

TEST_F(DatasetFolder, IdentifiersIgnoredLabelAndTotalsAreOptional) {
  std::filesystem::remove(dir_.path() / "identifiers.json");
  put("train/dataset.json",
      R"({"pad_id": 0, "ignore_label_id": null, "blank_identifier_id": 0, "vocab_size": 11,)"
      R"( "seq_len": 2, "num_puzzle_identifiers": 2, "total_groups": 1,)"
      R"( "mean_puzzle_examples": 1, "total_samples": 3, "sets": ["all"]})");
  const PuzzleDataset set = read();
  EXPECT_EQ(set.ignore_label_id, std::nullopt);
  EXPECT_TRUE(set.identifiers.empty());
}

TEST_F(DatasetFolder, WrongArraysAreNamed) {
  put("train/all__labels.npy", npy_bytes("|u1", "(2, 2)", "\x02\x03\x04\x05"));
  expect_refused("as many labels as inputs");
  put("train/all__labels.npy", npy_bytes("|u1", "(2, 3)", "\x02\x03\x04\x05\x06\x07"));
  expect_refused("wrong board length; got 3, expected seq_len = 2");
  put("train/all__labels.npy", npy_bytes("|u1", "(6,)", "\x02\x03\x04\x05\x06\x07"));
  expect_refused("wrong number of dimensions");
  put("train/all__labels.npy", npy_bytes("|u1", "(3, 2)", "\x02\x03\x04\x05\x06\x0b"));
  expect_refused("token outside the vocabulary; got 11 at element 5, expected 0 to 10");
  put("train/all__labels.npy", npy_bytes("<f4", "(3, 2)", std::string(24, '\0')));
  expect_refused("tokens are not integers", ErrorCode::Unsupported);
  std::filesystem::remove(dir_.path() / "train/all__labels.npy");
  expect_refused("all__labels.npy", ErrorCode::Io);
}

TEST_F(DatasetFolder, WrongIndicesAreNamed) {
  put("train/all__puzzle_indices.npy", int32_array({0, 1, 4}));
  expect_refused("all__puzzle_indices.npy: offsets do not run from 0 to 3");
  put("train/all__puzzle_indices.npy", int32_array({0, 5, 3}));
  expect_refused("offsets fall at element 2; got 3 after 5");
  put("train/all__puzzle_indices.npy", int32_array({0, 3}));
  expect_refused("wrong number of puzzles; got 2, expected 1");
  put("train/all__puzzle_indices.npy", int32_array({0, 1, 3}));
  put("train/all__puzzle_identifiers.npy", int32_array({0, 2}));
  expect_refused("identifier is out of range; got 2, expected 0 to 1");
  put("train/all__puzzle_identifiers.npy", int32_array({0, 1}));
  put("train/all__group_indices.npy", int32_array({}));
  expect_refused("all__group_indices.npy: offsets");
}

TEST_F(DatasetFolder, WrongMetadataIsNamed) {
  const std::string rest = R"("seq_len": 2, "pad_id": 0, "num_puzzle_identifiers": 2,)"
                           R"( "blank_identifier_id": 0, "sets": ["all"]})";
  const auto expect_metadata_refused = [&](const std::string& text, const std::string& word,
                                           ErrorCode code = ErrorCode::BadFile) {
    put("train/dataset.json", text);
    expect_refused(word, code);
  };
  expect_metadata_refused("[]", "not a JSON object");
  expect_metadata_refused(R"({"vocab": 11})", "did you mean 'vocab_size'?");
  expect_metadata_refused("{" + rest, "'vocab_size' is missing");
  expect_metadata_refused(R"({"vocab_size": 300, )" + rest, "got 300, expected 1 to 256");
  expect_metadata_refused(R"({"vocab_size": 18446744073709551615, )" + rest, "out of range");
  expect_metadata_refused(R"({"vocab_size": 1.5, )" + rest, "not an integer");
  expect_metadata_refused(
      R"({"vocab_size": 11, "seq_len": 2, "pad_id": 0, "num_puzzle_identifiers": 2,)"
      R"( "blank_identifier_id": 0, "sets": ["../x"]})",
      "sets", ErrorCode::Unsupported);
}

TEST_F(DatasetFolder, WrongIdentifiersAreNamed) {
  put("identifiers.json", R"(["<blank>"])");
  expect_refused("got 1 entries, expected num_puzzle_identifiers = 2");
  put("identifiers.json", R"(["<blank>", 3])");
  expect_refused("a name is not a string");
}

TEST_F(DatasetFolder, WritesWhatItReads) {
  const PuzzleDataset set = read();
  const auto copy = dir_.path() / "copy";
  EXPECT_FALSE(is_dataset(copy));
  write_dataset(copy, "train", set);
  EXPECT_TRUE(is_dataset(copy));
  const PuzzleDataset again = read_dataset(copy, "train");
  EXPECT_EQ(again.vocab_size, set.vocab_size);
  EXPECT_EQ(again.ignore_label_id, set.ignore_label_id);
  EXPECT_EQ(again.inputs, set.inputs);
  EXPECT_EQ(again.labels, set.labels);
  EXPECT_EQ(again.puzzle_identifiers, set.puzzle_identifiers);
  EXPECT_EQ(again.puzzle_indices, set.puzzle_indices);
  EXPECT_EQ(again.group_indices, set.group_indices);
  EXPECT_EQ(again.identifiers, set.identifiers);
}

TEST_F(DatasetFolder, RowsKnowTheirPuzzle) {
  const PuzzleDataset set = read();
  const std::vector<DatasetRow> rows = rows_of(set);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[2].identifier, set.puzzle_identifiers[1]);
  EXPECT_EQ(rows[2].name, set.identifiers[static_cast<size_t>(rows[2].identifier)]);
  EXPECT_TRUE(std::equal(rows[2].input.begin(), rows[2].input.end(), set.inputs.begin() + 4));
  EXPECT_EQ(rows[2].label.size(), 2u);
}

}  // namespace
}  // namespace driftless::store
