// SPDX-License-Identifier: Apache-2.0
// Attention in int8, simulated with floats that hold integers: the same bits as the native engine's
// integers give.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driftless/simulate/block.h"
#include "driftless/simulate/product/matmul.h"

namespace driftless::simulate {

/// Scores, softmax and values, head by head.
class HeadAttention {
 public:
  virtual ~HeadAttention() = default;
  [[nodiscard]] virtual int64_t scratch_size() const = 0;
  /// The values of a part's queries, with D between rows.
  virtual void attend(const Work& work, int64_t head, int64_t first_row, float* scratch,
                      float* values) const = 0;
};

/// The products of one head for a part's queries, over Slot::qkv: scores [rows, T], and values with
/// `stride` between rows.
MatmulShape score_shape(const Layout& layout, int64_t head_width);
MatmulShape value_shape(const Layout& layout, int64_t head_width, int64_t stride);

/// A product of integers in floats, cut along k so that every sum stays exact. A whole sum is
/// rounded once, when it becomes a float.
class ExactProduct {
 public:
  /// For bytes times int8 codes; the result is [m, n], dense.
  ExactProduct(const MatmulShape& shape, int64_t workers);
  [[nodiscard]] int64_t scratch_size() const;
  /// The result lies at the beginning of the scratch.
  const float* run(int64_t worker, const float* a, const float* b, float* scratch) const;

 private:
  MatmulShape shape_;
  std::vector<Matmul> pieces_;
};

/// The scales of one board's codes, which stand in Slot::qkv.
struct AttentionScales {
  AttentionScales(const Layout& layout, int64_t heads);

  std::vector<float> queries;              ///< [head][padded rows]; padding has scale 0
  std::vector<float> keys;                 ///< [head][T]
  std::vector<float> values;               ///< [D]
  std::vector<std::vector<int8_t>> codes;  ///< of what a head encodes at the moment
};

/// Replaces queries, keys and values by their codes; a part is a head.
class AttentionEncoding : public Stage {
 public:
  AttentionEncoding(const Build& build, std::string prefix,
                    std::shared_ptr<std::vector<AttentionScales>> scales);
  [[nodiscard]] int64_t parts() const override { return heads_; }
  [[nodiscard]] int64_t scratch_size() const override {
    return std::max(layout_.rows, layout_.width);
  }
  void run(const Work& work) const override;

 private:
  /// Values that share a scale.
  struct Line {
    float* first;
    int64_t stride, count;
  };
  /// In place. Returns the scale.
  float encode(const Work& work, const Line& line) const;

  std::string name_;
  Layout layout_;
  int64_t heads_;
  std::shared_ptr<std::vector<AttentionScales>> scales_;
};

class IntegerAttention : public HeadAttention {
 public:
  IntegerAttention(const Build& build, std::shared_ptr<std::vector<AttentionScales>> scales);
  [[nodiscard]] int64_t scratch_size() const override;
  void attend(const Work& work, int64_t head, int64_t first_row, float* scratch,
              float* values) const override;

 private:
  Layout layout_;
  int64_t head_width_;
  const EpilogueSet& epilogues_;
  std::shared_ptr<std::vector<AttentionScales>> scales_;
  ExactProduct scores_, values_;
  mutable std::vector<std::vector<uint8_t>> bytes_;  // a worker's shares
};

}  // namespace driftless::simulate
