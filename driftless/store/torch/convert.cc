// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/torch/convert.h"

#include <cmath>
#include <list>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/store/dataset/dataset.h"
#include "driftless/store/dataset/npy.h"
#include "driftless/store/file_kind.h"
#include "driftless/store/safetensors.h"

namespace driftless::store {
namespace {

using Path = std::filesystem::path;

bool is_present(const Path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

void convert_array(const Path& in, const Path& out) {
  const auto bytes = read_file(in);
  const TensorView array = parse_npy(bytes, in.string());
  if (array.dtype == DType::F32) {
    const std::vector<float> values = to_float32(array, in.string());
    for (size_t i = 0; i < values.size(); ++i)
      DRIFTLESS_REQUIRE(std::isfinite(values[i]), ErrorCode::Numeric, in.string(),
                        ": not a finite number; got ", values[i], " at element ", i);
  }
  write_safetensors(out, {{in.stem().string(), array}}, {});
}

template <class Number>
TensorView view_of(const std::vector<Number>& values, DType dtype, std::vector<int64_t> shape) {
  return {dtype, std::move(shape), std::as_bytes(std::span(values))};
}

void add_split(const PuzzleDataset& set, const std::string& split,
               std::map<std::string, TensorView>& tensors, Metadata& metadata) {
  const auto length = [](const std::vector<int64_t>& v) { return static_cast<int64_t>(v.size()); };
  const std::vector<int64_t> boards = {set.row_count(), set.seq_len};
  tensors[split + ".inputs"] = view_of(set.inputs, DType::U8, boards);
  tensors[split + ".labels"] = view_of(set.labels, DType::U8, boards);
  tensors[split + ".puzzle_identifiers"] =
      view_of(set.puzzle_identifiers, DType::I64, {length(set.puzzle_identifiers)});
  tensors[split + ".puzzle_indices"] =
      view_of(set.puzzle_indices, DType::I64, {length(set.puzzle_indices)});
  tensors[split + ".group_indices"] =
      view_of(set.group_indices, DType::I64, {length(set.group_indices)});
  nlohmann::ordered_json facts = {{"pad_id", set.pad_id},
                                  {"ignore_label_id", nullptr},
                                  {"blank_identifier_id", set.blank_identifier_id},
                                  {"vocab_size", set.vocab_size},
                                  {"seq_len", set.seq_len},
                                  {"num_puzzle_identifiers", set.num_puzzle_identifiers}};
  if (set.ignore_label_id) facts["ignore_label_id"] = *set.ignore_label_id;
  metadata[split] = facts.dump();
  if (!set.identifiers.empty()) metadata["identifiers"] = nlohmann::json(set.identifiers).dump();
}

void convert_dataset(const Path& in, const Path& out) {
  std::list<PuzzleDataset> splits;  // owns what the views look at
  std::map<std::string, TensorView> tensors;
  Metadata metadata;
  for (const char* split : {"train", "test"})
    if (is_present(in / split / "dataset.json"))
      add_split(splits.emplace_back(read_dataset(in, split)), split, tensors, metadata);
  DRIFTLESS_REQUIRE(!splits.empty(), ErrorCode::BadFile, in.string(),
                    ": no data set; expected train/dataset.json or test/dataset.json inside");
  write_safetensors(out, tensors, metadata);
}

}  // namespace

Converted convert(const std::filesystem::path& in, const std::filesystem::path& out,
                  const ImportOptions& options, DType weights) {
  std::error_code ignored;
  if (std::filesystem::is_directory(in, ignored)) {
    convert_dataset(in, out);
    return {ConvertedKind::Dataset};
  }
  if (kind_of(in) == FileKind::Npy) {
    convert_array(in, out);
    return {ConvertedKind::Array};
  }
  const ImportedModel model = import_model(in, options);
  save_checkpoint(out, model.checkpoint, weights);
  return {ConvertedKind::Model, describe(model)};
}

}  // namespace driftless::store
