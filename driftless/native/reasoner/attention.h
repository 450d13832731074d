// SPDX-License-Identifier: Apache-2.0
// What attention in floats and in integers share: where queries, keys and values lie, and the stage
// that goes through heads and tiles of queries.
#pragma once

#include "driftless/native/reasoner/build.h"

namespace driftless::native {

/// How Slot::qkv lies. One of keys and values is turned, so that no tile of queries has to gather
/// it: keys for float products, values for codes along the keys. The padding of its rows is never
/// looked at.
///
///   queries [T, D] | turned [heads, head width, padded T] | upright [heads, T, head width]
struct Qkv {
  explicit Qkv(const NativeBuild& build);

  int64_t rows, width, heads, head_width;
  int64_t key_stride;  ///< padded T: whole tiles of either product
  bool turns_values;

  [[nodiscard]] float* queries(const loop::Work& work) const { return work.slot.qkv.data(); }
  [[nodiscard]] float* turned(const loop::Work& work, int64_t head) const {
    return queries(work) + rows * width + head * head_width * key_stride;
  }
  [[nodiscard]] float* upright(const loop::Work& work, int64_t head) const {
    return turned(work, heads) + head * rows * head_width;
  }
};

/// Queries of one head, as many as a tile takes.
struct QueryTile {
  int64_t head, first, count;
};

/// Scores, softmax and values tile by tile, then output projection, residual and norm. Scratch of
/// one part: scores [tile, padded T] | all heads' values [rows, D] | output [rows, D].
class AttentionStage : public loop::Stage {
 public:
  AttentionStage(NativeBuild& build, const std::string& prefix, int64_t tile_rows);
  [[nodiscard]] int64_t parts() const override { return layout_.row_parts; }
  [[nodiscard]] int64_t parts_alone() const override { return 1; }
  [[nodiscard]] int64_t scratch_size() const override;
  void run(const loop::Work& work) const override;

 protected:
  /// The values of a tile's queries, with D between them. `scores` is scratch.
  virtual void attend(const loop::Work& work, const QueryTile& tile, float* scores,
                      float* values) const = 0;

  Qkv qkv_;
  const loop::EpilogueSet& epilogues_;
  float score_scale_;  // 1 / sqrt(head width)

 private:
  loop::Layout layout_;
  int64_t tile_rows_;
  float eps_;
  Linear output_;
};

/// The stages after the projection where the plan has attention in int8: codes of all heads, and
/// attention on them.
void add_integer_attention(loop::Stages& stages, NativeBuild& build, const std::string& prefix);

}  // namespace driftless::native
