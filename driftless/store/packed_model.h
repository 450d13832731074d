// SPDX-License-Identifier: Apache-2.0
// A quantized model in as few bytes as its codes take: a safetensors file like a checkpoint, with
// the plan as JSON under the metadata key `plan` and, for each weight NAME that the plan quantizes,
// these tensors in its place:
//
//   NAME.codes         U8  [outputs, bytes a row]   packed codes (quant/packed.h)
//   NAME.scales        U8  [outputs, blocks]        block formats: e8m0 or e4m3 codes
//                      U8 or F16 [outputs, blocks]  blocks with scale=: codes of e5m3, e4m4; fp16
//                      F32 [runs]                   element formats
//   NAME.zeros         F32 [runs]                   element formats with zero points
//   NAME.tensor_scale  F32 [1]                      two-level formats
//   NAME.factors       F32 [inputs]                 where the plan smooths
//
// All other tensors keep their names, in BF16 where that holds every value and in F32 otherwise;
// biases are as the plan rounds them. More metadata: `packed` (version 1), `config`,
// `source_sha256`, `calibration` (absent: none), `method` (how weights were rounded; absent: to the
// nearest code), and `content_sha256`, the hash of what the file says.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "driftless/quant/packed.h"
#include "driftless/quant/plan/plan.h"
#include "driftless/store/checkpoint.h"

namespace driftless::store {

struct PackedWeight {
  quant::PackedMatrix matrix;    ///< as the layer multiplies it: smoothed and rotated
  std::vector<float> factors{};  ///< of the smoothing, one an input
};

struct PackedModel {
  model::ModelConfig config;
  quant::QuantPlan plan{};
  std::map<std::string, PackedWeight, std::less<>> weights{};  ///< by the name of the weight
  TensorMap tensors{};                                         ///< all others
  std::string source_sha256{};  ///< of the checkpoint's file; empty where there was none
  std::string calibration{};    ///< "200 boards of FILE, seed 0", or empty
  std::string method{};         ///< "gptq, second moments of ...", or empty: nearest
};

/// The codes of a layer's weight, which is smoothed and rotated already.
using RoundWeight =
    std::function<quant::QuantizedMatrix(const quant::LayerPlan& layer, quant::ConstMat weight)>;

/// To the nearest code, by the layer's own quantizer.
quant::QuantizedMatrix round_to_nearest(const quant::LayerPlan& layer, quant::ConstMat weight);

/// Quantizes the weights and biases of a complete checkpoint as a calibrated plan says. Throws what
/// quant::require_fits and quant::PlannedLayer throw, and Unsupported, naming the layer, for a
/// weight whose codes have more than 8 bits.
PackedModel pack_model(const Checkpoint& checkpoint, const quant::QuantPlan& plan,
                       const RoundWeight& round = round_to_nearest);

/// Throws Io where the file cannot be written.
void save_packed(const std::filesystem::path& path, const PackedModel& model);

/// Whether a file says that it is a packed model. Throws Io, BadFile, Unsupported.
bool is_packed(const std::filesystem::path& path);

/// Throws Io, BadFile, BadConfig, Unsupported or Numeric: for whatever does not agree with
/// the configuration, the plan or the hash.
PackedModel load_packed(const std::filesystem::path& path);
PackedModel parse_packed(const Safetensors& file);

/// What `content_sha256` must be: the hash of all other metadata and of every tensor.
std::string content_sha256(const Metadata& metadata,
                           const std::map<std::string, TensorView>& tensors);

/// The values that a packed weight stands for, [outputs, length], as the layer multiplies them.
Tensor decoded(const PackedWeight& weight);

}  // namespace driftless::store
