// SPDX-License-Identifier: Apache-2.0
// The models once more, in double precision and as plainly as possible, straight from their
// description: no parts, no fusing, real transposes, the recursion written out per architecture.
// Shares the generator of random numbers with the engine and nothing else.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "driftless/base/rng.h"
#include "driftless/model/config.h"
#include "driftless/store/checkpoint.h"

namespace driftless::simulate::testing {

struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> values;

  Matrix() = default;
  Matrix(int64_t r, int64_t c) : rows(r), columns(c), values(static_cast<size_t>(r * c)) {}
  double& at(int64_t r, int64_t c) { return values[static_cast<size_t>(r * columns + c)]; }
  double at(int64_t r, int64_t c) const { return values[static_cast<size_t>(r * columns + c)]; }
};

class Reference {
 public:
  /// With a disturbance of 1, every sublayer's result gets Gaussian noise as large as the bound of
  /// float32's rounding error in that sublayer; with 0 there is none.
  Reference(const store::Checkpoint& checkpoint, double disturbance)
      : config_(checkpoint.config), tensors_(checkpoint.tensors), disturbance_(disturbance) {}

  /// Called with the input of each linear layer, row by row, which it may replace.
  std::function<void(const std::string& layer, Matrix& input)> on_input;
  /// Called with what attention multiplies: queries, keys and values side by side, then the shares
  /// of each head. It may replace them.
  std::function<void(Matrix& operand)> on_operand;

  void reset(const std::vector<uint8_t>& tokens, int64_t puzzle, uint64_t seed);
  void step();

  Matrix z_h, z_l;
  /// Logits of the cells row by row, then the halt and the continue logit.
  std::vector<double> outputs;

 private:
  Matrix weight(const std::string& name) const;
  Matrix linear(Matrix x, const std::string& name) const;
  Matrix swiglu(const Matrix& x, const std::string& prefix) const;
  Matrix attention(const Matrix& x, const std::string& prefix) const;
  void rotate(Matrix& qkv) const;
  Matrix norm(Matrix sum, int64_t longest_sum);
  Matrix network(Matrix h, const std::string& name, int64_t layers);
  Matrix update(const Matrix& state, const Matrix& injection, const std::string& name,
                int64_t layers);
  void read_out();

  const model::ModelConfig config_;
  const store::TensorMap tensors_;
  double disturbance_;
  Matrix x_;
  Rng rng_{0};
  Rng disturbance_rng_{99};
};

}  // namespace driftless::simulate::testing
