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

/// Rows of scores at a time: they stay in the nearest cache together with what they meet.
constexpr int64_t kQueries = 12;
/// Columns of transposed keys and of scores are padded to whole tiles of the float product.
constexpr int64_t kTile = 32;

/// How Slot::qkv lies here. Keys stand as the products read them, so that no tile of queries has to
/// gather them; the padding of a key row is never looked at.
///
///   queries [T, D] | keys [heads, head width, padded T] | values [heads, T, head width]
struct Qkv {
  explicit Qkv(const NativeBuild& build)
      : rows(build.layout.rows),
        width(build.layout.width),
        heads(build.model.config.num_heads),
        head_width(model::head_width(build.model.config)),
        key_stride((rows + kTile - 1) / kTile * kTile) {}

  int64_t rows, width, heads, head_width, key_stride;

  [[nodiscard]] float* queries(const Work& work) const { return work.slot.qkv.data(); }
  [[nodiscard]] float* keys(const Work& work, int64_t head) const {
    return queries(work) + rows * width + head * head_width * key_stride;
  }
  [[nodiscard]] float* values(const Work& work, int64_t head) const {
    return keys(work, heads) + head * rows * head_width;
  }
};

/// Scratch of one part: a row is all query heads | all key heads | all value heads, D values each.
class Projection : public Stage {
 public:
  Projection(NativeBuild& build, const std::string& prefix)
      : layout_(build.layout),
        qkv_(build),
        rope_(build.model.config),
        linear_(build, prefix + ".qkv_proj.weight", layout_.part_rows) {}

  [[nodiscard]] int64_t parts() const override { return layout_.row_parts; }
  [[nodiscard]] int64_t scratch_size() const override {
    return layout_.part_rows * 3 * layout_.width;
  }

  void run(const Work& work) const override {
    const int64_t first_row = work.part * layout_.part_rows;
    const int64_t rows = loop::real_rows(layout_, work.part);
    const quant::Mat projected{work.scratch, rows, 3 * layout_.width};
    linear_.run(work, {work.h + first_row * layout_.width, rows, layout_.width}, projected);
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
    const float* const from = projected.data + layout_.width + head * count;
    float* const keys = qkv_.keys(work, head) + first_row;
    float* const values = qkv_.values(work, head) + first_row * count;
    for (int64_t i = 0; i < count; ++i)
      for (int64_t row = 0; row < projected.rows; ++row)
        keys[i * qkv_.key_stride + row] = from[row * projected.cols + i];
    for (int64_t row = 0; row < projected.rows; ++row)
      std::copy_n(from + row * projected.cols + layout_.width, count, values + row * count);
  }

  Layout layout_;
  Qkv qkv_;
  loop::Rope rope_;
  Linear linear_;
};

/// Scratch of one part: scores [queries, padded T] | all heads' values [rows, D] | output
/// [rows, D].
class Attention : public Stage {
 public:
  Attention(NativeBuild& build, const std::string& prefix)
      : layout_(build.layout),
        qkv_(build),
        eps_(static_cast<float>(build.model.config.rms_norm_eps)),
        epilogues_(build.epilogues),
        output_(build, prefix + ".o_proj.weight", layout_.part_rows) {}

  [[nodiscard]] int64_t parts() const override { return layout_.row_parts; }
  [[nodiscard]] int64_t scratch_size() const override {
    return kQueries * qkv_.key_stride + 2 * layout_.part_rows * layout_.width;
  }

  void run(const Work& work) const override {
    const int64_t width = layout_.width;
    const int64_t first_row = work.part * layout_.part_rows;
    const int64_t rows = loop::real_rows(layout_, work.part);
    float* const scores = work.scratch;
    float* const values = scores + kQueries * qkv_.key_stride;
    float* const output = values + layout_.part_rows * width;
    for (int64_t head = 0; head < qkv_.heads; ++head) {
      int64_t tiles = (rows + kQueries - 1) / kQueries;
      for (int64_t row = 0; row < rows; --tiles) {
        const int64_t queries = (rows - row + tiles - 1) / tiles;
        attend(work, head, {first_row + row, queries}, scores, values + row * width);
        row += queries;
      }
    }
    output_.run(work, {values, rows, width}, {output, rows, width});
    for (int64_t row = 0; row < rows; ++row)
      epilogues_.add_norm(work.h + (first_row + row) * width, output + row * width, width, eps_);
  }

 private:
  struct Queries {
    int64_t first, count;
  };

  void attend(const Work& work, int64_t head, const Queries& queries, float* scores,
              float* values) const {
    const int64_t head_width = qkv_.head_width;
    epilogues_.multiply({.a = qkv_.queries(work) + queries.first * qkv_.width + head * head_width,
                         .a_stride = qkv_.width,
                         .b = qkv_.keys(work, head),
                         .b_stride = qkv_.key_stride,
                         .c = scores,
                         .c_stride = qkv_.key_stride,
                         .m = queries.count,
                         .k = head_width,
                         .n = qkv_.key_stride});
    const float scale = 1.0f / std::sqrt(static_cast<float>(head_width));
    for (int64_t query = 0; query < queries.count; ++query)
      epilogues_.softmax(scores + query * qkv_.key_stride, qkv_.rows, scale);
    epilogues_.multiply({.a = scores,
                         .a_stride = qkv_.key_stride,
                         .b = qkv_.values(work, head),
                         .b_stride = head_width,
                         .c = values + head * head_width,
                         .c_stride = qkv_.width,
                         .m = queries.count,
                         .k = qkv_.rows,
                         .n = head_width});
  }

  Layout layout_;
  Qkv qkv_;
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
