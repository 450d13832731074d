// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/checkpoint.h"

#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"
#include "driftless/model/config_json.h"
#include "driftless/model/shapes.h"
#include "driftless/store/safetensors_header.h"

namespace driftless::store {
namespace {

constexpr const char* kConfigKey = "config";

void require_finite(std::span<const float> values, const std::string& place) {
  for (size_t i = 0; i < values.size(); ++i)
    DRIFTLESS_REQUIRE(std::isfinite(values[i]), ErrorCode::Numeric, place,
                      ": not a finite number; got ", values[i], " at element ", i);
}

std::string place_of(std::string_view where, const std::string& name) {
  return std::string(where) + ": tensor " + quote(name);
}

template <class Tensors>
void require_no_extra(const std::vector<model::ParamSpec>& specs, const Tensors& tensors,
                      std::string_view where) {
  std::vector<std::string_view> known;
  known.reserve(specs.size());
  for (const model::ParamSpec& spec : specs) known.emplace_back(spec.name);
  const std::set<std::string_view> lookup(known.begin(), known.end());
  for (const auto& [name, tensor] : tensors)
    DRIFTLESS_REQUIRE(lookup.contains(name), ErrorCode::BadFile, place_of(where, name),
                      ": the configuration has no such tensor; got ", shape_text(tensor.shape),
                      did_you_mean(name, known));
}

/// Exactly the tensors of the configuration, in their shapes.
template <class Tensors>
void require_shapes(const std::vector<model::ParamSpec>& specs, const Tensors& tensors,
                    std::string_view where) {
  for (const model::ParamSpec& spec : specs) {
    const std::string place = place_of(where, spec.name);
    const auto found = tensors.find(spec.name);
    DRIFTLESS_REQUIRE(found != tensors.end(), ErrorCode::BadFile, place, ": missing; expected ",
                      shape_text(spec.shape));
    DRIFTLESS_REQUIRE(found->second.shape == spec.shape, ErrorCode::BadFile, place,
                      ": wrong shape; got ", shape_text(found->second.shape), ", expected ",
                      shape_text(spec.shape));
  }
  require_no_extra(specs, tensors, where);
}

model::ModelConfig config_of(const Metadata& metadata, const std::string& where) {
  const auto found = metadata.find(kConfigKey);
  DRIFTLESS_REQUIRE(found != metadata.end(), ErrorCode::BadConfig, where,
                    ": no configuration; expected JSON under the metadata key 'config'; "
                    "'driftless convert' writes one");
  return model::config_from_json(found->second, where + ": config");
}

}  // namespace

void require_complete(const model::ModelConfig& config, const TensorMap& tensors,
                      std::string_view where) {
  const auto specs = model::parameters(config);
  require_shapes(specs, tensors, where);
  for (const model::ParamSpec& spec : specs) {
    const std::string place = place_of(where, spec.name);
    const Tensor& tensor = tensors.at(spec.name);
    DRIFTLESS_REQUIRE(std::cmp_equal(tensor.values.size(), model::element_count(spec)),
                      ErrorCode::BadFile, place, ": values do not match the shape; got ",
                      tensor.values.size(), " values, expected ", shape_text(spec.shape));
    require_finite(tensor.values, place);
  }
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
  return parse_checkpoint(read_safetensors(path));
}

Checkpoint parse_checkpoint(const Safetensors& file) {
  Checkpoint checkpoint{.config = config_of(file.metadata(), file.where()),
                        .tensors = {},
                        .metadata = file.metadata()};
  checkpoint.metadata.erase(kConfigKey);
  for (const auto& [name, view] : file.tensors())
    checkpoint.tensors.emplace(name,
                               Tensor{view.shape, to_float32(view, place_of(file.where(), name))});
  require_complete(checkpoint.config, checkpoint.tensors, file.where());
  return checkpoint;
}

model::ModelConfig parse_config(const SafetensorsHeader& header) {
  model::ModelConfig config = config_of(header.metadata, header.where);
  require_shapes(model::parameters(config), header.tensors, header.where);
  return config;
}

void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint,
                     DType weights) {
  const std::string where = path.string();
  model::validate(checkpoint.config, where);
  require_complete(checkpoint.config, checkpoint.tensors, where);
  std::map<std::string, std::vector<std::byte>> bytes;
  std::map<std::string, TensorView> views;
  for (const model::ParamSpec& spec : model::parameters(checkpoint.config)) {
    const DType dtype = spec.role == model::ParamRole::InitState ? DType::F32 : weights;
    auto& stored = bytes[spec.name];
    stored =
        from_float32(checkpoint.tensors.at(spec.name).values, dtype, place_of(where, spec.name));
    views[spec.name] = {dtype, spec.shape, stored};
  }
  Metadata metadata = checkpoint.metadata;
  metadata[kConfigKey] = model::config_to_json(checkpoint.config);
  write_safetensors(path, views, metadata);
}

}  // namespace driftless::store
