// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/travel.h"

#include <cmath>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/rng.h"
#include "driftless/formats/stochastic.h"
#include "driftless/lab/train/run_state.h"
#include "driftless/store/safetensors.h"
#include "driftless/store/tensor.h"

namespace driftless::lab {
namespace {

using store::DType;

class Narrower {
 public:
  Narrower(const store::Safetensors& file, int64_t step)
      : file_(file), rng_(static_cast<uint64_t>(step)), tensors_(file.tensors()) {}

  [[nodiscard]] const std::map<std::string, store::TensorView>& tensors() const { return tensors_; }

  /// Where the tensor is there and is float32: in a state that travels already it is not.
  void round(const std::string& name) {
    if (is_float32(name)) put(name, shape_of(name), rounded(name, floats(name)));
  }

  void round_average() {
    if (!is_float32("ema")) return;
    std::vector<float> difference = floats("ema");
    const std::vector<float> values = floats("values");
    DRIFTLESS_REQUIRE(values.size() == difference.size(), ErrorCode::BadFile, file_.where(),
                      ": tensor 'ema'; got ", difference.size(), " values, expected those of ",
                      values.size(), " weights");
    for (size_t i = 0; i < values.size(); ++i) difference[i] -= values[i];
    put(kTravellingAverage, shape_of("ema"), rounded("ema", difference));
    tensors_.erase("ema");
  }

  /// To nearest, where every value is one of bfloat16 anyway.
  void narrow_if_exact(const std::string& name) {
    if (!is_float32(name)) return;
    const std::vector<float> values = floats(name);
    std::vector<uint16_t> codes(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      codes[i] = formats::Bf16::encode(values[i]);
      if (formats::Bf16::decode(codes[i]) != values[i]) return;
    }
    put(name, shape_of(name), std::move(codes));
  }

 private:
  [[nodiscard]] bool is_float32(const std::string& name) const {
    const auto found = tensors_.find(name);
    return found != tensors_.end() && found->second.dtype == DType::F32;
  }

  [[nodiscard]] std::vector<float> floats(const std::string& name) const {
    const auto found = tensors_.find(name);
    DRIFTLESS_REQUIRE(found != tensors_.end(), ErrorCode::BadFile, file_.where(), ": no tensor '",
                      name, "'");
    return store::to_float32(found->second, file_.where());
  }

  std::vector<uint16_t> rounded(const std::string& name, std::span<const float> values) {
    std::vector<uint16_t> codes(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      DRIFTLESS_REQUIRE(std::isfinite(values[i]), ErrorCode::Numeric, file_.where(), ": tensor '",
                        name, "'; got ", values[i], " at ", i, ", expected finite values");
      codes[i] = formats::encode_bf16_stochastic(values[i], static_cast<uint16_t>(rng_.next()));
    }
    return codes;
  }

  [[nodiscard]] std::vector<int64_t> shape_of(const std::string& name) const {
    return tensors_.at(name).shape;
  }

  void put(const std::string& name, std::vector<int64_t> shape, std::vector<uint16_t> codes) {
    const std::vector<uint16_t>& kept = codes_[name] = std::move(codes);
    tensors_[name] = {DType::BF16, std::move(shape), std::as_bytes(std::span(kept))};
  }

  const store::Safetensors& file_;
  Rng rng_;
  std::map<std::string, store::TensorView> tensors_;
  std::map<std::string, std::vector<uint16_t>> codes_;  ///< what changed views look at
};

}  // namespace

void save_for_travel(const std::filesystem::path& state, const std::filesystem::path& out) {
  const store::Safetensors file = store::read_safetensors(state);
  Narrower narrower(file, state_step(file));
  narrower.round("moment1");
  narrower.round("moment2");
  narrower.round_average();
  narrower.narrow_if_exact("teacher");
  store::write_safetensors(out, narrower.tensors(), file.metadata());
}

}  // namespace driftless::lab
