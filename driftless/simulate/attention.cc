// SPDX-License-Identifier: Apache-2.0
// Full softmax attention in two stages, because every row needs the keys and values of all rows:
// first the projection of each part, then scores, values, output projection and norm.
#include <cmath>

#include "driftless/loop/kernels/epilogues.h"
#include "driftless/loop/rope.h"
#include "driftless/simulate/block.h"
#include "driftless/simulate/integer_attention.h"
#include "driftless/simulate/linear.h"

namespace driftless::simulate {
namespace {

/// A row of Slot::qkv: all query heads | all key heads | all value heads, D values each.
class Projection : public Stage {
 public:
  Projection(const Build& build, const std::string& prefix)
      : layout_(build.layout),
        heads_(build.config.num_heads),
        rope_(build.config),
        qkv_(build, prefix + ".qkv_proj.weight", {layout_.part_rows, layout_.width}) {}

  [[nodiscard]] int64_t parts() const override { return layout_.row_parts; }
  [[nodiscard]] int64_t scratch_size() const override { return qkv_.scratch_size(); }

  void run(const Work& work) const override {
    const PartRows rows = rows_of(layout_, work.part);
    float* const qkv = work.slot.qkv.data() + rows.first * 3 * layout_.width;
    qkv_.run(work, work.h + rows.first * layout_.width, rows, work.scratch, qkv);
    for (int64_t row = 0; row < rows.count; ++row)
      rope_.rotate(qkv + row * 3 * layout_.width, 2 * heads_, rows.first + row);
  }

 private:
  Layout layout_;
  int64_t heads_;
  loop::Rope rope_;
  Linear qkv_;
};

/// Scratch: scores of one head [rows, T].
class FloatAttention : public HeadAttention {
 public:
  explicit FloatAttention(const Build& build)
      : layout_(build.layout),
        head_width_(model::head_width(build.config)),
        scores_(build.dtype, score_shape(layout_, head_width_), build.workers),
        values_(build.dtype, value_shape(layout_, head_width_, layout_.width), build.workers),
        epilogues_(build.epilogues) {}

  [[nodiscard]] int64_t scratch_size() const override { return layout_.part_rows * layout_.rows; }

  void attend(const Work& work, int64_t head, int64_t first_row, float* scores,
              float* values) const override {
    const int64_t width = layout_.width;
    const float* const qkv = work.slot.qkv.data() + head * head_width_;
    scores_.run(work.worker, qkv + first_row * 3 * width, qkv + width, scores);
    const float scale = 1.0f / std::sqrt(static_cast<float>(head_width_));
    for (int64_t row = 0; row < layout_.part_rows; ++row)
      epilogues_.softmax(scores + row * layout_.rows, layout_.rows, scale);
    values_.run(work.worker, scores, qkv + 2 * width, values);
  }

 private:
  Layout layout_;
  int64_t head_width_;
  Matmul scores_, values_;
  const EpilogueSet& epilogues_;
};

/// Scratch of one part: what a head needs | all heads' values [rows, D] | output [rows, D] | input
/// of the output projection where that is a copy.
class Attention : public Stage {
 public:
  Attention(const Build& build, const std::string& prefix, std::unique_ptr<HeadAttention> head)
      : layout_(build.layout),
        heads_(build.config.num_heads),
        head_width_(model::head_width(build.config)),
        eps_(static_cast<float>(build.config.rms_norm_eps)),
        head_(std::move(head)),
        output_(build, prefix + ".o_proj.weight", {layout_.part_rows, layout_.width}),
        epilogues_(build.epilogues) {}

  [[nodiscard]] int64_t parts() const override { return layout_.row_parts; }
  [[nodiscard]] int64_t scratch_size() const override {
    return head_->scratch_size() + 2 * layout_.part_rows * layout_.width + output_.scratch_size();
  }

  void run(const Work& work) const override {
    const int64_t width = layout_.width;
    const PartRows rows = rows_of(layout_, work.part);
    float* const values = work.scratch + head_->scratch_size();
    float* const output = values + layout_.part_rows * width;
    for (int64_t head = 0; head < heads_; ++head)
      head_->attend(work, head, rows.first, work.scratch, values + head * head_width_);
    float* const copy = output + layout_.part_rows * width;
    output_.run(work, values, rows, copy, output);
    for (int64_t row = 0; row < rows.count; ++row)
      epilogues_.add_norm(work.h + (rows.first + row) * width, output + row * width, width, eps_);
  }

 private:
  Layout layout_;
  int64_t heads_;
  int64_t head_width_;
  float eps_;
  std::unique_ptr<HeadAttention> head_;
  Linear output_;
  const EpilogueSet& epilogues_;
};

}  // namespace

MatmulShape score_shape(const Layout& layout, int64_t head_width) {
  return {.m = layout.part_rows,
          .k = head_width,
          .n = layout.rows,
          .a = {3 * layout.width},
          .b = transposed(3 * layout.width),
          .c = {layout.rows}};
}

MatmulShape value_shape(const Layout& layout, int64_t head_width, int64_t stride) {
  return {.m = layout.part_rows,
          .k = layout.rows,
          .n = head_width,
          .a = {layout.rows},
          .b = {3 * layout.width},
          .c = {stride}};
}

void add_attention(Stages& stages, const Build& build, const std::string& prefix) {
  stages.push_back(std::make_unique<Projection>(build, prefix));
  std::unique_ptr<HeadAttention> head;
  if (build.attention == quant::AttentionPrecision::Int8) {
    const auto scales = std::make_shared<std::vector<AttentionScales>>(
        static_cast<size_t>(build.slots), AttentionScales(build.layout, build.config.num_heads));
    stages.push_back(std::make_unique<AttentionEncoding>(build, prefix, scales));
    head = std::make_unique<IntegerAttention>(build, scales);
  } else {
    head = std::make_unique<FloatAttention>(build);
  }
  stages.push_back(std::make_unique<Attention>(build, prefix, std::move(head)));
}

}  // namespace driftless::simulate
