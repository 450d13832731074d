// SPDX-License-Identifier: Apache-2.0
// Full softmax attention in two stages. Projections multiply integers; scores and values are
// float32, and scores exist for one head and a tile of queries at a time.
#include <algorithm>
#include <cmath>

#include "driftless/loop/rope.h"
#include "driftless/model/shapes.h"
#include "driftless/native/reasoner/build.h"

namespace driftless::native {
namespace {

using loop::Layout;
using loop::Stage;
using loop::Work;

constexpr int64_t kQueries = 16;

/// A row of Slot::qkv: all query heads | all key heads | all value heads, D values each.
class Projection : public Stage {
 public:
  Projection(NativeBuild& build, const std::string& prefix)
      : layout_(build.layout),
        heads_(build.model.config.num_heads),
        rope_(build.model.config),
        qkv_(build, prefix + ".qkv_proj.weight", layout_.part_rows) {}

  [[nodiscard]] int64_t parts() const override { return layout_.row_parts; }

  void run(const Work& work) const override {
    const int64_t first_row = work.part * layout_.part_rows;
    const int64_t rows = loop::real_rows(layout_, work.part);
    const int64_t width = 3 * layout_.width;
    float* const qkv = work.slot.qkv.data() + first_row * width;
    qkv_.run(work, {work.h + first_row * layout_.width, rows, layout_.width}, {qkv, rows, width});
    for (int64_t row = 0; row < rows; ++row)
      rope_.rotate(qkv + row * width, 2 * heads_, first_row + row);
  }

 private:
  Layout layout_;
  int64_t heads_;
  loop::Rope rope_;
  Linear qkv_;
};

/// Scratch of one part: keys of one head, transposed [head width, T] | scores [queries, T] | all
/// heads' values [rows, D] | output [rows, D].
class Attention : public Stage {
 public:
  Attention(NativeBuild& build, const std::string& prefix)
      : layout_(build.layout),
        heads_(build.model.config.num_heads),
        head_width_(model::head_width(build.model.config)),
        eps_(static_cast<float>(build.model.config.rms_norm_eps)),
        epilogues_(build.epilogues),
        output_(build, prefix + ".o_proj.weight", layout_.part_rows) {}

  [[nodiscard]] int64_t parts() const override { return layout_.row_parts; }
  [[nodiscard]] int64_t scratch_size() const override {
    return (head_width_ + kQueries) * layout_.rows + 2 * layout_.part_rows * layout_.width;
  }

  void run(const Work& work) const override {
    const int64_t width = layout_.width;
    const int64_t first_row = work.part * layout_.part_rows;
    const int64_t rows = loop::real_rows(layout_, work.part);
    float* const keys = work.scratch;
    float* const scores = keys + head_width_ * layout_.rows;
    float* const values = scores + kQueries * layout_.rows;
    float* const output = values + layout_.part_rows * width;
    for (int64_t head = 0; head < heads_; ++head) {
      turn_keys(work, head, keys);
      for (int64_t row = 0; row < rows; row += kQueries)
        attend(work, head, first_row + row, std::min(kQueries, rows - row), keys, scores,
               values + row * width);
    }
    output_.run(work, {values, rows, width}, {output, rows, width});
    for (int64_t row = 0; row < rows; ++row)
      epilogues_.add_norm(work.h + (first_row + row) * width, output + row * width, width, eps_);
  }

 private:
  void turn_keys(const Work& work, int64_t head, float* keys) const {
    const float* const from = work.slot.qkv.data() + layout_.width + head * head_width_;
    for (int64_t row = 0; row < layout_.rows; ++row)
      for (int64_t i = 0; i < head_width_; ++i)
        keys[i * layout_.rows + row] = from[row * 3 * layout_.width + i];
  }

  void attend(const Work& work, int64_t head, int64_t row, int64_t queries, const float* keys,
              float* scores, float* values) const {
    const int64_t stride = 3 * layout_.width;
    const float* const qkv = work.slot.qkv.data() + head * head_width_;
    epilogues_.multiply({.a = qkv + row * stride,
                         .a_stride = stride,
                         .b = keys,
                         .b_stride = layout_.rows,
                         .c = scores,
                         .c_stride = layout_.rows,
                         .m = queries,
                         .k = head_width_,
                         .n = layout_.rows});
    const float scale = 1.0f / std::sqrt(static_cast<float>(head_width_));
    for (int64_t query = 0; query < queries; ++query)
      epilogues_.softmax(scores + query * layout_.rows, layout_.rows, scale);
    epilogues_.multiply({.a = scores,
                         .a_stride = layout_.rows,
                         .b = qkv + 2 * layout_.width,
                         .b_stride = stride,
                         .c = values + head * head_width_,
                         .c_stride = layout_.width,
                         .m = queries,
                         .k = layout_.rows,
                         .n = head_width_});
  }

  Layout layout_;
  int64_t heads_;
  int64_t head_width_;
  float eps_;
  const loop::EpilogueSet& epilogues_;
  Linear output_;
};

}  // namespace

void add_attention(loop::Stages& stages, NativeBuild& build, const std::string& prefix) {
  stages.push_back(std::make_unique<Projection>(build, prefix));
  stages.push_back(std::make_unique<Attention>(build, prefix));
}

}  // namespace driftless::native
