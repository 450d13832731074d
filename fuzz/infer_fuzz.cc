// SPDX-License-Identifier: Apache-2.0
// A model of other code: its training configuration, which ends with the first zero byte, and its
// tensors as a safetensors file. An Error, or a configuration that is valid.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>

#include "driftless/base/error.h"
#include "driftless/store/torch/infer.h"
#include "driftless/store/torch/plain_yaml.h"

namespace {

using namespace driftless;

std::optional<model::ModelConfig> config_of(std::string_view yaml,
                                            std::span<const std::byte> bytes) {
  try {
    const store::FlatConfig training = store::parse_plain_yaml(yaml, "fuzz");
    const store::Safetensors file({bytes.begin(), bytes.end()}, "fuzz");
    store::TensorMap tensors;
    for (const auto& [name, view] : file.tensors())
      tensors[name] = {view.shape, store::to_float32(view, name)};
    return store::infer_config(tensors, training, {}, "fuzz").config;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Internal) std::abort();
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const uint8_t* const end = std::find(data, data + size, 0);
  const auto length = static_cast<size_t>(end - data);
  if (length == size) return 0;
  const auto config = config_of({reinterpret_cast<const char*>(data), length},
                                std::as_bytes(std::span(data, size).subspan(length + 1)));
  if (config) model::validate(*config, "fuzz");
  return 0;
}
