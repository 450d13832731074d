// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/convert.h"

#include <array>
#include <fstream>
#include <list>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/file.h"
#include "driftless/base/quote.h"
#include "driftless/model/config_json.h"
#include "driftless/store/dataset.h"
#include "driftless/store/npy.h"
#include "driftless/store/safetensors.h"
#include "driftless/store/torch_file.h"
#include "driftless/store/yaml.h"

namespace driftless::store {
namespace {

using Path = std::filesystem::path;

enum class FileKind { Safetensors, TorchZip, Npy };

/// Told by the first bytes; whatever has no magic is taken for safetensors, whose reader is strict.
FileKind kind_of(const Path& path) {
  std::array<char, 8> start{};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  const std::string_view magic(start.data(), start.size());
  DRIFTLESS_REQUIRE(!magic.starts_with("\x80\x02\x8a\x0a"), ErrorCode::Unsupported, path.string(),
                    ": a PyTorch file of the old format without zip; load and save it again with "
                    "torch 1.6 or newer");
  if (magic.starts_with("PK\x03\x04")) return FileKind::TorchZip;
  if (magic.starts_with("\x93NUMPY")) return FileKind::Npy;
  return FileKind::Safetensors;
}

bool is_present(const Path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

FlatConfig config_beside(const Path& path) {
  const Path yaml = path.parent_path() / "all_config.yaml";
  if (!is_present(yaml)) return {};
  const auto bytes = read_file(yaml);
  return parse_yaml({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, yaml.string());
}

Checkpoint import_torch(const Path& path, const ImportOptions& options) {
  TorchModel model = read_torch(path);
  const FlatConfig training = model.config.empty() ? config_beside(path) : model.config;
  Checkpoint checkpoint{infer_config(model.tensors, training, options, path.string()),
                        std::move(model.tensors),
                        {{"weights", model.weights}}};
  require_complete(checkpoint.config, checkpoint.tensors, path.string());
  return checkpoint;
}

Checkpoint import_safetensors(const Path& path, const ImportOptions& options) {
  const Safetensors file = read_safetensors(path);
  Checkpoint checkpoint;
  checkpoint.metadata = file.metadata();
  for (const auto& [key, view] : file.tensors()) {
    if (is_batch_buffer(plain_name(key))) continue;
    const std::string place = file.where() + ": tensor " + quote(key);
    const bool is_new =
        checkpoint.tensors.emplace(plain_name(key), Tensor{view.shape, to_float32(view, place)})
            .second;
    DRIFTLESS_REQUIRE(is_new, ErrorCode::BadFile, place, ": a second tensor with the name ",
                      quote(plain_name(key)));
  }
  const auto config = checkpoint.metadata.extract("config");
  if (config.empty()) {
    checkpoint.config =
        infer_config(checkpoint.tensors, config_beside(path), options, file.where());
  } else {
    checkpoint.config = model::config_from_json(config.mapped(), file.where() + ": config");
    apply(options, checkpoint.config);
    model::validate(checkpoint.config, file.where());
  }
  require_complete(checkpoint.config, checkpoint.tensors, file.where());
  return checkpoint;
}

void convert_array(const Path& in, const Path& out) {
  const auto bytes = read_file(in);
  write_safetensors(out, {{in.stem().string(), parse_npy(bytes, in.string())}}, {});
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

Checkpoint import_model(const std::filesystem::path& path, const ImportOptions& options) {
  switch (kind_of(path)) {
    case FileKind::Safetensors:
      return import_safetensors(path, options);
    case FileKind::TorchZip:
      return import_torch(path, options);
    case FileKind::Npy:
      break;
  }
  fail(ErrorCode::BadFile, path.string(), ": an npy array is not a model");
}

ConvertedKind convert(const std::filesystem::path& in, const std::filesystem::path& out,
                      const ImportOptions& options, DType weights) {
  std::error_code ignored;
  if (std::filesystem::is_directory(in, ignored)) {
    convert_dataset(in, out);
    return ConvertedKind::Dataset;
  }
  if (kind_of(in) == FileKind::Npy) {
    convert_array(in, out);
    return ConvertedKind::Array;
  }
  save_checkpoint(out, import_model(in, options), weights);
  return ConvertedKind::Model;
}

}  // namespace driftless::store
