// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/packed_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "driftless/base/error.h"
#include "driftless/base/sha256.h"
#include "driftless/base/text/quote.h"
#include "driftless/formats/e8m0fnu.h"
#include "driftless/model/config_json.h"
#include "driftless/model/schedule.h"
#include "driftless/model/shapes.h"
#include "driftless/quant/plan/bias.h"
#include "driftless/quant/plan/plan_json.h"
#include "driftless/quant/plan/planned_layer.h"
#include "driftless/quant/runs.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/store/file_kind.h"
#include "driftless/store/safetensors_header.h"

namespace driftless::store {
namespace {

using quant::Granularity;
using quant::QuantSpec;

constexpr const char* kVersion = "1";
constexpr uint8_t kE8m0Nan = 255;

std::vector<std::byte> bytes_of(std::span<const uint8_t> values) {
  const auto bytes = std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}

/// Tensors with their bytes, before they are a file.
struct OwnedTensor {
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};
using OwnedTensors = std::map<std::string, OwnedTensor>;

bool is_exact_in_bf16(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(),
                     [](float v) { return (std::bit_cast<uint32_t>(v) & 0xffffu) == 0; });
}

OwnedTensor float_tensor(std::vector<int64_t> shape, std::span<const float> values, DType dtype) {
  return {dtype, std::move(shape), from_float32(values, dtype, "packed model")};
}

/// What a scale of the spec looks like in a file.
bool has_code_scales(const QuantSpec& spec) { return spec.granularity == Granularity::Block; }
bool has_zeros(const QuantSpec& spec) {
  return !has_code_scales(spec) && quant::is_asymmetric(spec.format->element);
}
bool has_tensor_scale(const QuantSpec& spec) {
  return spec.format->scaling == formats::Scaling::TwoLevel;
}

/// The scales of blocks with scale=, as their codes or, in fp16, as they are.
OwnedTensor stored_scales(const quant::PackedMatrix& matrix) {
  const formats::ScaleFormat format = matrix.spec.scale;
  const int64_t blocks = quant::groups_per_row(matrix.spec, matrix.cols);
  std::vector<float> scales;
  std::vector<uint8_t> codes;
  for (const quant::Scale& scale : matrix.scales.floats) {
    scales.push_back(scale.scale);
    codes.push_back(static_cast<uint8_t>(formats::encode_scale(format, scale.scale)));
  }
  if (format == formats::ScaleFormat::Float16)
    return float_tensor({matrix.rows, blocks}, scales, DType::F16);
  return {DType::U8, {matrix.rows, blocks}, bytes_of(codes)};
}

void add_weight(OwnedTensors& out, const std::string& name, const PackedWeight& weight) {
  const quant::PackedMatrix& matrix = weight.matrix;
  const QuantSpec& spec = matrix.spec;
  const int64_t row_bytes = quant::packed_row_bytes(spec, matrix.cols);
  out[name + ".codes"] = {DType::U8, {matrix.rows, row_bytes}, bytes_of(matrix.bytes)};
  if (has_code_scales(spec)) {
    const int64_t blocks = quant::groups_per_row(spec, matrix.cols);
    out[name + ".scales"] = {DType::U8, {matrix.rows, blocks}, bytes_of(matrix.scales.codes)};
  } else if (spec.has_scale_codes()) {
    out[name + ".scales"] = stored_scales(matrix);
  } else {
    std::vector<float> scales;
    std::vector<float> zeros;
    for (const quant::Scale& scale : matrix.scales.floats) {
      scales.push_back(scale.scale);
      zeros.push_back(scale.zero);
    }
    const std::vector<int64_t> runs = {std::ssize(scales)};
    out[name + ".scales"] = float_tensor(runs, scales, DType::F32);
    if (has_zeros(spec)) out[name + ".zeros"] = float_tensor(runs, zeros, DType::F32);
  }
  if (has_tensor_scale(spec))
    out[name + ".tensor_scale"] = float_tensor({1}, {&matrix.scales.tensor_scale, 1}, DType::F32);
  if (!weight.factors.empty())
    out[name + ".factors"] = float_tensor({std::ssize(weight.factors)}, weight.factors, DType::F32);
}

/// Takes tensors out of a packed file one by one and in the end refuses what is left.
class PackedReader {
 public:
  explicit PackedReader(const Safetensors& file) : file_(file) {
    for (const auto& [name, view] : file.tensors()) left_.insert(name);
  }

  const TensorView& take(const std::string& name, std::vector<int64_t> shape,
                         std::initializer_list<DType> types) {
    const std::string place = file_.where() + ": tensor " + quote(name);
    const auto found = file_.tensors().find(name);
    DRIFTLESS_REQUIRE(found != file_.tensors().end(), ErrorCode::BadFile, place,
                      ": missing; expected ", shape_text(shape), " by configuration and plan");
    const TensorView& view = found->second;
    DRIFTLESS_REQUIRE(std::find(types.begin(), types.end(), view.dtype) != types.end(),
                      ErrorCode::BadFile, place, ": element type; got ", info(view.dtype).name,
                      ", expected ", info(*types.begin()).name);
    DRIFTLESS_REQUIRE(view.shape == shape, ErrorCode::BadFile, place, ": wrong shape; got ",
                      shape_text(view.shape), ", expected ", shape_text(shape),
                      " by configuration and plan");
    left_.erase(name);
    return view;
  }

  std::vector<uint8_t> take_bytes(const std::string& name, std::vector<int64_t> shape) {
    const TensorView& view = take(name, std::move(shape), {DType::U8});
    std::vector<uint8_t> values(view.bytes.size());
    if (!values.empty()) std::memcpy(values.data(), view.bytes.data(), values.size());
    return values;
  }

  std::vector<float> take_floats(const std::string& name, std::vector<int64_t> shape,
                                 std::initializer_list<DType> types = {DType::F32, DType::BF16}) {
    const std::string place = file_.where() + ": tensor " + quote(name);
    const TensorView& view = take(name, std::move(shape), types);
    std::vector<float> values = to_float32(view, place);
    for (size_t i = 0; i < values.size(); ++i)
      DRIFTLESS_REQUIRE(std::isfinite(values[i]), ErrorCode::Numeric, place,
                        ": not a finite number; got ", values[i], " at element ", i);
    return values;
  }

  void require_nothing_left() const {
    DRIFTLESS_REQUIRE(left_.empty(), ErrorCode::BadFile, file_.where(), ": tensor ",
                      quote(*left_.begin()), ": neither configuration nor plan has it");
  }

 private:
  const Safetensors& file_;
  std::set<std::string> left_;
};

std::vector<quant::Scale> read_stored_scales(PackedReader& reader, const std::string& name,
                                             std::vector<int64_t> shape,
                                             formats::ScaleFormat format) {
  std::vector<quant::Scale> scales;
  if (format != formats::ScaleFormat::Float16) {
    for (const uint8_t code : reader.take_bytes(name + ".scales", std::move(shape)))
      scales.push_back({.scale = formats::decode_scale(format, code)});
    return scales;
  }
  for (const float scale : reader.take_floats(name + ".scales", std::move(shape), {DType::F16})) {
    DRIFTLESS_REQUIRE(scale > 0, ErrorCode::BadFile, "tensor ", quote(name), ": scale; got ", scale,
                      ", expected more than 0");
    scales.push_back({.scale = scale});
  }
  return scales;
}

/// Whether the scales alone tell that every code stands for a finite number: integers whose largest
/// magnitude times the largest scale is one. No code may be there for padding alone.
bool is_finite_by_scales(const quant::PackedMatrix& matrix) {
  const QuantSpec& spec = matrix.spec;
  const formats::Element& element = spec.format->element;
  const bool is_padded =
      has_code_scales(spec) ? matrix.cols % spec.group != 0 : matrix.cols * element.bits % 8 != 0;
  if (element.code_sign != formats::CodeSign::TwosComplement || is_padded || has_zeros(spec) ||
      has_tensor_scale(spec))
    return false;
  float largest = 0;
  for (const quant::Scale& scale : matrix.scales.floats) largest = std::max(largest, scale.scale);
  if (!matrix.scales.codes.empty() && spec.format->scaling == formats::Scaling::PowerOfTwo) {
    const uint8_t code = *std::max_element(matrix.scales.codes.begin(), matrix.scales.codes.end());
    largest = formats::E8m0fnu::decode(code);
  }
  // Twice, for the one code beyond the format's range.
  return largest > 0 && std::isfinite(largest * 2 * std::max(element.max, -element.min));
}

/// A packed weight, checked for all that its decoding relies on.
PackedWeight read_weight(PackedReader& reader, const quant::LinearLayer& layer,
                         const quant::LayerPlan& plan, const std::string& where) {
  const QuantSpec& spec = plan.weights;
  const std::string place = where + ": tensor " + quote(layer.name);
  PackedWeight weight;
  if (plan.smooth) weight.factors = reader.take_floats(layer.name + ".factors", {layer.inputs});
  for (const float factor : weight.factors)
    DRIFTLESS_REQUIRE(factor > 0, ErrorCode::BadFile, place, ": smoothing factor; got ", factor,
                      ", expected more than 0");
  const int64_t length = quant::PlannedLayer(plan, layer.inputs, weight.factors).length();
  weight.matrix = {.spec = spec, .rows = layer.outputs, .cols = length};
  const int64_t row_bytes = quant::packed_row_bytes(spec, length);
  weight.matrix.bytes = reader.take_bytes(layer.name + ".codes", {layer.outputs, row_bytes});
  quant::RunScales& scales = weight.matrix.scales;
  if (has_code_scales(spec)) {
    const int64_t blocks = quant::groups_per_row(spec, length);
    scales.codes = reader.take_bytes(layer.name + ".scales", {layer.outputs, blocks});
    const bool is_e8m0 = spec.format->scaling == formats::Scaling::PowerOfTwo;
    DRIFTLESS_REQUIRE(!is_e8m0 || std::find(scales.codes.begin(), scales.codes.end(), kE8m0Nan) ==
                                      scales.codes.end(),
                      ErrorCode::BadFile, place, ": a scale is NaN");
  } else if (spec.has_scale_codes()) {
    const int64_t blocks = quant::groups_per_row(spec, length);
    scales.floats = read_stored_scales(reader, layer.name, {layer.outputs, blocks}, spec.scale);
  } else {
    const int64_t runs = quant::run_count(spec, layer.outputs, length);
    const auto values = reader.take_floats(layer.name + ".scales", {runs});
    const auto zeros = has_zeros(spec) ? reader.take_floats(layer.name + ".zeros", {runs})
                                       : std::vector<float>(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      DRIFTLESS_REQUIRE(std::isnormal(values[i]) && values[i] > 0, ErrorCode::BadFile, place,
                        ": scale; got ", values[i], ", expected a positive normal number");
      scales.floats.push_back({values[i], zeros[i]});
    }
  }
  if (has_tensor_scale(spec))
    scales.tensor_scale = reader.take_floats(layer.name + ".tensor_scale", {1})[0];
  try {
    if (is_finite_by_scales(weight.matrix)) return weight;
    const Tensor values = decoded(weight);  // Its padding and all of its values are checked here.
    DRIFTLESS_REQUIRE(std::all_of(values.values.begin(), values.values.end(),
                                  [](float v) { return std::isfinite(v); }),
                      ErrorCode::BadFile, "a code times its scale is not finite");
  } catch (const Error& error) {
    fail(error.code(), place, ": ", error.what());
  }
  return weight;
}

const std::string& metadata_value(const Safetensors& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  DRIFTLESS_REQUIRE(found != file.metadata().end(), ErrorCode::BadFile, file.where(),
                    ": packed model without the metadata key '", key, "'");
  return found->second;
}

std::string text_or_empty(const Safetensors& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  return found == file.metadata().end() ? std::string() : found->second;
}

}  // namespace

quant::QuantizedMatrix round_to_nearest(const quant::LayerPlan& layer, quant::ConstMat weight) {
  return quant::weight_quantizer(layer).quantize(weight);
}

PackedModel pack_model(const Checkpoint& checkpoint, const quant::QuantPlan& plan,
                       const RoundWeight& round) {
  const auto layers = reason::linear_layers(checkpoint.config);
  quant::require_fits(plan, layers, std::ssize(model::schedule(checkpoint.config)), "plan");
  PackedModel model{.config = checkpoint.config, .plan = plan, .tensors = checkpoint.tensors};
  for (const quant::LinearLayer& layer : layers) {
    const quant::LayerPlan* const planned = plan.find(layer.name);
    if (planned == nullptr) continue;
    Tensor& tensor = model.tensors.at(layer.name);
    const quant::ConstMat weight{tensor.values.data(), layer.outputs, layer.inputs};
    if (layer.has_bias) {
      const std::string stem = layer.name.substr(0, layer.name.rfind('.'));
      std::vector<float>& bias = model.tensors.at(stem + ".bias").values;
      bias = quant::fake_quantize_bias(*planned, weight, bias);
    }
    if (planned->weights.is_none() && !planned->smooth && !planned->hadamard) continue;
    DRIFTLESS_REQUIRE(!planned->weights.is_none() && planned->weights.format->element.bits <= 8,
                      ErrorCode::Unsupported, "layer '", layer.name, "': weights as '",
                      to_string(planned->weights),
                      "' cannot be packed; expected codes of at most 8 bits");
    const quant::PlannedLayer item(*planned, weight);
    const std::vector<float> values = item.transformed_weight(weight);
    PackedWeight packed;
    packed.factors.assign(item.factors().begin(), item.factors().end());
    try {
      packed.matrix = quant::pack(round(*planned, {values.data(), layer.outputs, item.length()}));
    } catch (const Error& error) {
      fail(error.code(), "layer '", layer.name, "': weight: ", error.what());
    }
    model.weights.emplace(layer.name, std::move(packed));
    model.tensors.erase(layer.name);
  }
  return model;
}

std::string content_sha256(const Metadata& metadata,
                           const std::map<std::string, TensorView>& tensors) {
  Sha256 hash;
  const auto add = [&](std::span<const std::byte> bytes) {
    const uint64_t size = bytes.size();
    hash.add(std::as_bytes(std::span(&size, 1)));
    hash.add(bytes);
  };
  for (const auto& [key, text] : metadata) {
    if (key == "content_sha256") continue;
    add(std::as_bytes(std::span(key)));
    add(std::as_bytes(std::span(text)));
  }
  for (const auto& [name, view] : tensors) {
    add(std::as_bytes(std::span(name)));
    add(view.bytes);
  }
  return hash.hex();
}

void save_packed(const std::filesystem::path& path, const PackedModel& model) {
  OwnedTensors owned;
  for (const auto& [name, weight] : model.weights) add_weight(owned, name, weight);
  for (const auto& [name, tensor] : model.tensors) {
    const DType dtype = is_exact_in_bf16(tensor.values) ? DType::BF16 : DType::F32;
    owned[name] = float_tensor(tensor.shape, tensor.values, dtype);
  }
  std::map<std::string, TensorView> views;
  for (const auto& [name, tensor] : owned)
    views.emplace(name, TensorView{tensor.dtype, tensor.shape, tensor.bytes});
  Metadata metadata = {{"packed", kVersion},
                       {"config", model::config_to_json(model.config)},
                       {"plan", quant::plan_to_json(model.plan)},
                       {"source_sha256", model.source_sha256}};
  if (!model.calibration.empty()) metadata.emplace("calibration", model.calibration);
  if (!model.method.empty()) metadata.emplace("method", model.method);
  metadata.emplace("content_sha256", content_sha256(metadata, views));
  write_safetensors(path, views, metadata);
}

bool is_packed(const std::filesystem::path& path) {
  return kind_of(path) == FileKind::Safetensors &&
         read_safetensors_header(path).metadata.contains("packed");
}

PackedModel load_packed(const std::filesystem::path& path) {
  return parse_packed(read_safetensors(path));
}

PackedModel parse_packed(const Safetensors& file) {
  const std::string& where = file.where();
  const std::string& version = metadata_value(file, "packed");
  DRIFTLESS_REQUIRE(version == kVersion, ErrorCode::Unsupported, where,
                    ": version of the packed model; got ", quote(version), ", expected ", kVersion);
  PackedModel model{
      .config = model::config_from_json(metadata_value(file, "config"), where + ": config"),
      .plan = quant::plan_from_json(metadata_value(file, "plan"), where + ": plan"),
      .source_sha256 = metadata_value(file, "source_sha256"),
      .calibration = text_or_empty(file, "calibration"),
      .method = text_or_empty(file, "method")};
  const auto layers = reason::linear_layers(model.config);
  quant::require_fits(model.plan, layers, std::ssize(model::schedule(model.config)),
                      where + ": plan");
  PackedReader reader(file);
  for (const quant::LinearLayer& layer : layers) {
    const quant::LayerPlan* const planned = model.plan.find(layer.name);
    if (planned == nullptr || planned->weights.is_none()) continue;
    DRIFTLESS_REQUIRE(planned->is_calibrated() && planned->weights.format->element.bits <= 8,
                      ErrorCode::BadFile, where, ": plan: layer '", layer.name,
                      "' is not calibrated or has codes of more than 8 bits");
    model.weights.emplace(layer.name, read_weight(reader, layer, *planned, where));
  }
  for (const model::ParamSpec& spec : model::parameters(model.config)) {
    if (model.weights.contains(spec.name)) continue;
    model.tensors.emplace(spec.name, Tensor{spec.shape, reader.take_floats(spec.name, spec.shape)});
  }
  reader.require_nothing_left();
  const std::string& expected = metadata_value(file, "content_sha256");
  DRIFTLESS_REQUIRE(content_sha256(file.metadata(), file.tensors()) == expected, ErrorCode::BadFile,
                    where, ": content does not have the hash that the file states; got ",
                    quote(expected), "; the file was changed or damaged");
  return model;
}

Tensor decoded(const PackedWeight& weight) {
  const quant::QuantizedMatrix matrix = quant::unpack(weight.matrix);
  Tensor tensor{{matrix.rows, matrix.cols}, {}};
  tensor.values.resize(static_cast<size_t>(matrix.rows * matrix.cols));
  quant::dequantize(matrix, {tensor.values.data(), matrix.rows, matrix.cols});
  return tensor;
}

}  // namespace driftless::store
