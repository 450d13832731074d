// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/model_file.h"

#include <algorithm>
#include <utility>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/quote.h"
#include "driftless/model/config_json.h"
#include "driftless/model/shapes.h"
#include "driftless/store/file_kind.h"
#include "driftless/store/safetensors.h"
#include "driftless/store/safetensors_header.h"
#include "driftless/store/torch/torch_file.h"
#include "driftless/store/torch/yaml.h"

namespace driftless::store {
namespace {

using Path = std::filesystem::path;

/// The training configuration of a run and its place.
struct Training {
  FlatConfig values{};
  std::string source = "none";
};

/// A file of one architecture alone, as config/arch has them, counts as its `arch`.
Training read_training(const Path& path) {
  Training training{parse_yaml(read_text(path), path.string()), path.string()};
  const bool has_arch =
      std::any_of(training.values.begin(), training.values.end(),
                  [](const auto& item) { return item.first.starts_with("arch."); });
  if (has_arch) return training;
  FlatConfig below;
  for (auto& [key, value] : training.values) below["arch." + key] = std::move(value);
  training.values = std::move(below);
  return training;
}

Training find_training(const Path& path, const ImportOptions& options, FlatConfig own) {
  if (!options.config.empty()) return read_training(options.config);
  if (!own.empty()) return {std::move(own), "the file's own"};
  const Path yaml = path.parent_path() / "all_config.yaml";
  std::error_code ignored;
  if (std::filesystem::exists(yaml, ignored)) return read_training(yaml);
  return {};
}

/// Fixed positions are used as learned ones are.
void rename_positions(TensorMap& tensors) {
  auto fixed = tensors.extract("absolute_pos_embedding");
  if (fixed.empty()) return;
  fixed.key() = "embed_pos.embedding_weight";
  tensors.insert(std::move(fixed));
}

/// TRM saves the average in place of the weights where it keeps one.
std::string weights_text(const std::string& taken, const FlatConfig& training) {
  if (taken == "ema.shadow") return "averaged (ema.shadow)";
  const auto ema = training.find("ema");
  if (ema == training.end()) return "of the state dict";
  return ema->second == "true" ? "averaged (saved with ema: true)" : "raw (saved with ema: false)";
}

ImportedModel inferred_model(TensorMap tensors, const Training& training,
                             const ImportOptions& options, const std::string& where) {
  rename_positions(tensors);
  Inferred inferred = infer_config(tensors, training.values, options, where);
  require_complete(inferred.config, tensors, where);
  return {.checkpoint = {inferred.config, std::move(tensors), {}},
          .weights = weights_text("", training.values),
          .configuration = training.source,
          .assumed = std::move(inferred.assumed)};
}

ImportedModel import_torch(const Path& path, const ImportOptions& options) {
  TorchModel model = read_torch(path);
  const Training training = find_training(path, options, std::move(model.config));
  ImportedModel imported =
      inferred_model(std::move(model.tensors), training, options, path.string());
  imported.weights = weights_text(model.weights, training.values);
  imported.checkpoint.metadata = {{"weights", model.weights}};
  return imported;
}

TensorMap tensors_of(const Safetensors& file) {
  TensorMap tensors;
  for (const auto& [key, view] : file.tensors()) {
    if (is_scratch(plain_name(key))) continue;
    const std::string place = file.where() + ": tensor " + quote(key);
    const bool is_new =
        tensors.emplace(plain_name(key), Tensor{view.shape, to_float32(view, place)}).second;
    DRIFTLESS_REQUIRE(is_new, ErrorCode::BadFile, place, ": a second tensor with the name ",
                      quote(plain_name(key)));
  }
  return tensors;
}

/// Says that a file is no model before its data are read, which may be gigabytes.
void require_embedding(const SafetensorsHeader& header) {
  constexpr std::string_view kName = "embed_tokens.embedding_weight";
  for (const auto& [key, view] : header.tensors)
    if (plain_name(key) == kName && view.shape.size() == 2) return;
  fail(ErrorCode::BadFile, header.where, ": tensor ", quote(kName),
       ": missing or not a matrix; is this a recursive reasoner?");
}

ImportedModel import_safetensors(const Safetensors& file, const Path& path,
                                 const ImportOptions& options) {
  Metadata metadata = file.metadata();
  const auto config = metadata.extract("config");
  ImportedModel imported;
  if (config.empty() || !options.config.empty()) {
    imported =
        inferred_model(tensors_of(file), find_training(path, options, {}), options, file.where());
  } else {
    Checkpoint& checkpoint = imported.checkpoint;
    checkpoint.tensors = tensors_of(file);
    checkpoint.config = model::config_from_json(config.mapped(), file.where() + ": config");
    apply(options, checkpoint.config);
    model::validate(checkpoint.config, file.where());
    require_complete(checkpoint.config, checkpoint.tensors, file.where());
    const auto weights = metadata.find("weights");
    imported.weights = weights_text(weights == metadata.end() ? "" : weights->second, {});
    imported.configuration = "the file's own";
  }
  imported.checkpoint.metadata = std::move(metadata);
  return imported;
}

std::string architecture_text(const model::ModelConfig& config) {
  const bool has_mixer = config.mixer == model::Mixer::Tokens;
  const std::string mixer = has_mixer ? "token mixer" : "attention";
  const std::string positions = config.positions == model::Positions::None ? "without positions"
                                : config.positions == model::Positions::Learned
                                    ? "with learned positions"
                                    : "with " + std::string(to_string(config.positions));
  return std::string(to_string(config.arch)) + ", " + mixer + " " + positions;
}

std::string sizes_text(const model::ModelConfig& config) {
  const auto number = [](int64_t value) { return std::to_string(value); };
  std::string text =
      "width " + number(config.hidden_size) + ", blocks " + number(config.num_layers);
  if (config.h_layers > 0) text += " + " + number(config.h_layers);
  if (config.mixer == model::Mixer::Attention) text += ", heads " + number(config.num_heads);
  text += ", tokens " + number(config.vocab_size) + ", cells " + number(config.seq_len) +
          ", prefix rows " + number(config.puzzle_emb_len);
  if (config.puzzle_emb_len > 0) text += ", puzzles " + number(config.num_puzzle_identifiers);
  return text + ", parameters " + number(model::trainable_count(config));
}

}  // namespace

ImportedModel import_model(const std::filesystem::path& path, const ImportOptions& options) {
  switch (kind_of(path)) {
    case FileKind::Safetensors:
      require_embedding(read_safetensors_header(path));
      return import_safetensors(read_safetensors(path), path, options);
    case FileKind::TorchZip:
      return import_torch(path, options);
    case FileKind::Npy:
      break;
  }
  fail(ErrorCode::BadFile, path.string(), ": an npy array is not a model");
}

std::vector<Finding> describe(const ImportedModel& model) {
  const model::ModelConfig& config = model.checkpoint.config;
  std::vector<Finding> findings = {
      {"architecture", architecture_text(config)},
      {"sizes", sizes_text(config)},
      {"recursion", std::to_string(config.h_cycles) + " x " + std::to_string(config.l_cycles) +
                        " cycles, " + std::to_string(config.halt_max_steps) + " steps"},
      {"task", config.task},
      {"weights", model.weights},
      {"configuration", model.configuration}};
  for (const std::string& assumption : model.assumed) findings.push_back({"assumed", assumption});
  return findings;
}

namespace {

ModelFile with_findings(ImportedModel model) {
  std::vector<Finding> found = describe(model);
  return {.checkpoint = std::move(model.checkpoint), .packed = {}, .found = std::move(found)};
}

}  // namespace

ModelFile open_model(const std::filesystem::path& path) {
  if (kind_of(path) != FileKind::Safetensors) return with_findings(import_model(path, {}));
  const SafetensorsHeader header = read_safetensors_header(path);
  const bool is_packed = header.metadata.contains("packed");
  if (!is_packed && header.metadata.contains("config"))
    static_cast<void>(parse_config(header));
  else if (!is_packed)
    require_embedding(header);
  const Safetensors file = read_safetensors(path);
  if (is_packed) {
    PackedModel packed = parse_packed(file);
    Checkpoint checkpoint{.config = packed.config, .tensors = {}, .metadata = {}};
    return {.checkpoint = std::move(checkpoint), .packed = std::move(packed)};
  }
  if (file.metadata().contains("config")) return {.checkpoint = parse_checkpoint(file)};
  return with_findings(import_safetensors(file, path, {}));
}

}  // namespace driftless::store
