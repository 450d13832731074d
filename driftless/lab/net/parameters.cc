// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/net/parameters.h"

#include <algorithm>
#include <cmath>

#include "driftless/base/error.h"
#include "driftless/model/shapes.h"

namespace driftless::lab {
namespace {

constexpr int64_t kAlignment = 8;

// Standard deviation of a normal cut off at two of its own, relative to the uncut one.
constexpr double kTruncatedStd = 0.87962566103423978;
constexpr double kHaltBias = -5;

bool ends_with(const std::string& name, std::string_view suffix) {
  return std::string_view(name).ends_with(suffix);
}

// From uniform values in [-1, 1), in place.
at::Tensor to_truncated_normal(at::Tensor uniform, double std) {
  const double uncut = std / kTruncatedStd;
  return uniform.mul_(std::erf(2.0 / std::sqrt(2.0)))
      .erfinv_()
      .mul_(std::sqrt(2.0) * uncut)
      .clamp_(-2.0 * uncut, 2.0 * uncut);
}

at::Tensor initial_tensor(const model::ParamSpec& spec, int64_t width, Rng& rng) {
  if (spec.role == model::ParamRole::InitState)
    return truncated_normal(spec.shape, 1.0, rng).to(at::kBFloat16).to(at::kFloat);
  if (spec.role == model::ParamRole::PuzzleTable || spec.name == "q_head.weight" ||
      spec.name == model::kLogScaleName)
    return at::zeros(spec.shape, at::kFloat);
  if (spec.name == "q_head.bias") return at::full(spec.shape, kHaltBias, at::kFloat);
  const bool is_table = ends_with(spec.name, "embedding_weight");
  const int64_t fan_in = is_table ? width : spec.shape.back();
  return truncated_normal(spec.shape, 1.0 / std::sqrt(static_cast<double>(fan_in)), rng);
}

}  // namespace

ParameterLayout::ParameterLayout(const model::ModelConfig& config) {
  for (const model::ParamSpec& spec : model::parameters(config)) {
    if (spec.role != model::ParamRole::Weight) continue;
    entries_.push_back({spec.name, spec.shape, size_, model::element_count(spec)});
    size_ += (entries_.back().count + kAlignment - 1) / kAlignment * kAlignment;
  }
}

at::Tensor ParameterLayout::view(const at::Tensor& flat, std::string_view name) const {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& candidate) { return candidate.name == name; });
  DRIFTLESS_REQUIRE(entry != entries_.end(), ErrorCode::InvalidArgument, "layout: got '", name,
                    "', expected the name of a trained weight");
  return flat.narrow(0, entry->begin, entry->count).view(entry->shape);
}

at::Tensor tensor_of(std::span<const float> values, at::Device device) {
  at::Tensor copy = at::empty({std::ssize(values)}, at::kFloat);
  std::copy(values.begin(), values.end(), copy.data_ptr<float>());
  return copy.to(device);
}

at::Tensor truncated_normal(const std::vector<int64_t>& shape, double std, Rng& rng) {
  at::Tensor values = at::empty(shape, at::kDouble);
  double* data = values.data_ptr<double>();
  for (int64_t i = 0; i < values.numel(); ++i) data[i] = 2.0 * rng.uniform() - 1.0;
  return to_truncated_normal(values, std).to(at::kFloat);
}

at::Tensor random_truncated_normal(const std::vector<int64_t>& shape, double std,
                                   at::Device device) {
  const at::Tensor values = at::empty(shape, at::TensorOptions(at::kFloat).device(device));
  return to_truncated_normal(values.uniform_(-1, 1), std);
}

NamedTensors initial_weights(const model::ModelConfig& config, Rng& rng) {
  NamedTensors named;
  for (const model::ParamSpec& spec : model::parameters(config))
    named[spec.name] = initial_tensor(spec, config.hidden_size, rng);
  return named;
}

at::Tensor to_flat(const ParameterLayout& layout, const NamedTensors& named,
                   std::string_view where) {
  at::Tensor flat = at::zeros({layout.size()}, at::kFloat);
  for (const ParameterLayout::Entry& entry : layout.entries()) {
    const auto found = named.find(entry.name);
    DRIFTLESS_REQUIRE(found != named.end(), ErrorCode::BadFile, where, ": no tensor '", entry.name,
                      "'; expected every weight of the model");
    DRIFTLESS_REQUIRE(found->second.sizes() == at::IntArrayRef(entry.shape), ErrorCode::BadFile,
                      where, ": tensor '", entry.name, "'; got shape ", found->second.sizes(),
                      ", expected ", at::IntArrayRef(entry.shape));
    layout.view(flat, entry.name).copy_(found->second);
  }
  return flat;
}

NamedTensors to_named(const ParameterLayout& layout, const at::Tensor& flat) {
  const at::Tensor host = flat.detach().to(at::kCPU);
  NamedTensors named;
  for (const ParameterLayout::Entry& entry : layout.entries())
    named[entry.name] = layout.view(host, entry.name).clone();
  return named;
}

}  // namespace driftless::lab
