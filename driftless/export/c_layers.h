// SPDX-License-Identifier: Apache-2.0
// The linear layers of a packed model as the exported code has them: codes in blocks of 32 along
// the inputs, padded with zeros, in as few bits as they have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driftless/integer/operand.h"
#include "driftless/store/packed_model.h"

namespace driftless::exporter {

inline constexpr int64_t kBlock = 32;

inline int64_t blocks_of(int64_t inputs) { return (inputs + kBlock - 1) / kBlock; }

struct CLinear {
  std::string name;  ///< of the weight
  int64_t outputs, inputs;
  integer::IntegerForm form;       ///< of the weights
  std::vector<uint8_t> codes;      ///< 4 * bits bytes a block
  std::vector<uint8_t> exponents;  ///< e8m0 codes [output][block]; empty where scales are floats
  std::vector<float> scales;       ///< one an output, or one
  int fraction;                    ///< fraction bits of a mantissa
  quant::QuantSpec acts;

  [[nodiscard]] integer::IntegerForm acts_form() const;
  [[nodiscard]] bool fits_bytes() const { return form.fits_bytes() && acts_form().fits_bytes(); }
  [[nodiscard]] int64_t bytes() const {
    return std::ssize(codes) + std::ssize(exponents) + 4 * std::ssize(scales);
  }
};

/// Throws Unsupported, naming the layer, for what the exported code does not run; `model` is one
/// that the native engine runs.
CLinear c_linear(const store::PackedModel& model, const std::string& name);

/// An initializer of the type `linear` of the exported code, whose arrays start with `prefix`.
std::string initializer(const CLinear& layer, const std::string& prefix);

/// The arrays that it names.
std::string definitions(const CLinear& layer, const std::string& prefix);

}  // namespace driftless::exporter
