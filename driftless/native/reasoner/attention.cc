// SPDX-License-Identifier: Apache-2.0
// Full softmax attention. Projections multiply integers; scores and values are float32 here, and
// scores exist for one head and a tile of queries at a time.
#include "driftless/native/reasoner/attention.h"

#include <algorithm>
#include <cmath>

#include "driftless/loop/rope.h"
#include "driftless/model/shapes.h"

namespace driftless::native {
namespace {

using loop::Layout;
using loop::Stage;
using loop::Work;

/// Rows of scores at a time: they stay in the nearest cache together with what they meet.
constexpr int64_t kQueries = 12;
/// Columns of scores are padded to whole tiles of the float product and of every kernel set.
constexpr int64_t kTile = 32;

/// Scratch of one part: a row is all query heads | all key heads | all value heads, D values each.
class Projection : public Stage {
 public:
  Projection(NativeBuild& build, const std::string& prefix)
      : layout_(build.layout),
        qkv_(build),
        rope_(build.model.config),
        linear_(build, prefix + ".qkv_proj.weight", layout_.rows) {}

  [[nodiscard]] int64_t parts() const override { return layout_.row_parts; }
  [[nodiscard]] int64_t parts_alone() const override { return 1; }
  [[nodiscard]] int64_t scratch_size() const override { return layout_.rows * 3 * layout_.width; }

  void run(const Work& work) const override {
    const auto [first_row, rows] = loop::rows_in_work(layout_, work);
    const quant::Mat projected{work.scratch, rows, 3 * layout_.width};
    linear_.run(work, first_row, {work.h + first_row * layout_.width, rows, layout_.width},
                projected);
    for (int64_t row = 0; row < rows; ++row)
      rope_.rotate(projected.row(row).data(), 2 * qkv_.heads, first_row + row);
    for (int64_t row = 0; row < rows; ++row)
      std::copy_n(projected.row(row).data(), layout_.width,
                  qkv_.queries(work) + (first_row + row) * layout_.width);
    for (int64_t head = 0; head < qkv_.heads; ++head) deal(work, projected, head, first_row);
  }

 private:
  /// One head's keys and values to their places.
  void deal(const Work& work, const quant::Mat& projected, int64_t head, int64_t first_row) const {
    const int64_t count = qkv_.head_width;
    const float* const keys = projected.data + layout_.width + head * count;
    const float* const values = keys + layout_.width;
    const float* const turned_from = qkv_.turns_values ? values : keys;
    const float* const upright_from = qkv_.turns_values ? keys : values;
    float* const turned = qkv_.turned(work, head) + first_row;
    float* const upright = qkv_.upright(work, head) + first_row * count;
    for (int64_t i = 0; i < count; ++i)
      for (int64_t row = 0; row < projected.rows; ++row)
        turned[i * qkv_.key_stride + row] = turned_from[row * projected.cols + i];
    for (int64_t row = 0; row < projected.rows; ++row)
      std::copy_n(upright_from + row * projected.cols, count, upright + row * count);
  }

  Layout layout_;
  Qkv qkv_;
  loop::Rope rope_;
  Linear linear_;
};

class FloatAttention : public AttentionStage {
 public:
  FloatAttention(NativeBuild& build, const std::string& prefix)
      : AttentionStage(build, prefix, kQueries) {}

 protected:
  void attend(const Work& work, const QueryTile& tile, float* scores,
              float* values) const override {
    const int64_t head_width = qkv_.head_width;
    epilogues_.multiply({.a = qkv_.queries(work) + tile.first * qkv_.width + tile.head * head_width,
                         .a_stride = qkv_.width,
                         .b = qkv_.turned(work, tile.head),
                         .b_stride = qkv_.key_stride,
                         .c = scores,
                         .c_stride = qkv_.key_stride,
                         .m = tile.count,
                         .k = head_width,
                         .n = qkv_.key_stride});
    for (int64_t query = 0; query < tile.count; ++query)
      epilogues_.softmax(scores + query * qkv_.key_stride, qkv_.rows, score_scale_);
    epilogues_.multiply({.a = scores,
                         .a_stride = qkv_.key_stride,
                         .b = qkv_.upright(work, tile.head),
                         .b_stride = head_width,
                         .c = values,
                         .c_stride = qkv_.width,
                         .m = tile.count,
                         .k = qkv_.rows,
                         .n = head_width});
  }
};

}  // namespace

Qkv::Qkv(const NativeBuild& build)
    : rows(build.layout.rows),
      width(build.layout.width),
      heads(build.model.config.num_heads),
      head_width(model::head_width(build.model.config)),
      key_stride((rows + kTile - 1) / kTile * kTile),
      turns_values(build.model.plan.attention == quant::AttentionPrecision::Int8) {}

AttentionStage::AttentionStage(NativeBuild& build, const std::string& prefix, int64_t tile_rows)
    : qkv_(build),
      epilogues_(build.epilogues),
      score_scale_(1.0f / std::sqrt(static_cast<float>(qkv_.head_width))),
      layout_(build.layout),
      tile_rows_(tile_rows),
      eps_(static_cast<float>(build.model.config.rms_norm_eps)),
      output_(build, prefix + ".o_proj.weight", layout_.rows) {}

int64_t AttentionStage::scratch_size() const {
  return tile_rows_ * qkv_.key_stride + 2 * layout_.rows * layout_.width;
}

void AttentionStage::run(const Work& work) const {
  const int64_t width = layout_.width;
  const auto [first_row, rows] = loop::rows_in_work(layout_, work);
  float* const scores = work.scratch;
  float* const values = scores + tile_rows_ * qkv_.key_stride;
  float* const output = values + layout_.rows * width;
  const RowTiles tiles(rows, tile_rows_);
  for (int64_t head = 0; head < qkv_.heads; ++head)
    for (int64_t i = 0; i < tiles.count; ++i) {
      const int64_t row = tiles.first(i);
      attend(work, {head, first_row + row, tiles.first(i + 1) - row}, scores,
             values + row * width + head * qkv_.head_width);
    }
  output_.run(work, first_row, {values, rows, width}, {output, rows, width});
  for (int64_t row = 0; row < rows; ++row)
    epilogues_.add_norm(work.h + (first_row + row) * width, output + row * width, width, eps_);
}

void add_attention(loop::Stages& stages, NativeBuild& build, const std::string& prefix) {
  stages.push_back(std::make_unique<Projection>(build, prefix));
  if (build.model.plan.attention == quant::AttentionPrecision::Int8)
    add_integer_attention(stages, build, prefix);
  else
    stages.push_back(std::make_unique<FloatAttention>(build, prefix));
}

}  // namespace driftless::native
