// SPDX-License-Identifier: Apache-2.0
// Attention in int8, simulated: codes are floats, and their products are sums of integers that
// floats hold exactly. docs/numerics.md, "Attention in int8", defines it.
#include "driftless/simulate/integer_attention.h"

#include <algorithm>
#include <cmath>

#include "driftless/base/error.h"
#include "driftless/quant/int8_row.h"
#include "driftless/simulate/product/products.h"

namespace driftless::simulate {
namespace {

/// Sums of this many products of a share (at most 255) and a code (at most 127) are below 2^24.
constexpr int64_t kExactLength = 512;

/// Shares and codes have at most 8 bits, which bfloat16 holds.
Dtype exact_dtype() { return has_fast_bf16() ? Dtype::BFloat16 : Dtype::Float32; }

}  // namespace

ExactProduct::ExactProduct(const MatmulShape& shape, int64_t workers) : shape_(shape) {
  for (int64_t first = 0; first < shape.k; first += kExactLength) {
    MatmulShape piece = shape;
    piece.k = std::min(kExactLength, shape.k - first);
    piece.c = {shape.n};
    pieces_.emplace_back(exact_dtype(), piece, workers);
  }
}

int64_t ExactProduct::scratch_size() const { return std::ssize(pieces_) * shape_.m * shape_.n; }

const float* ExactProduct::run(int64_t worker, const float* a, const float* b,
                               float* scratch) const {
  const int64_t size = shape_.m * shape_.n;
  int64_t first = 0;
  float* sums = scratch;
  for (const Matmul& piece : pieces_) {
    piece.run(worker, a + first, b + first * shape_.b.row, sums);
    first += kExactLength;
    sums += size;
  }
  if (pieces_.size() == 1) return scratch;
  for (int64_t i = 0; i < size; ++i) {
    double sum = 0;
    for (size_t piece = 0; piece < pieces_.size(); ++piece)
      sum += static_cast<double>(scratch[static_cast<int64_t>(piece) * size + i]);
    scratch[i] = static_cast<float>(sum);
  }
  return scratch;
}

AttentionScales::AttentionScales(const Layout& layout, int64_t heads)
    : queries(static_cast<size_t>(heads * layout.padded_rows)),
      keys(static_cast<size_t>(heads * layout.rows)),
      values(static_cast<size_t>(layout.width)),
      codes(static_cast<size_t>(heads),
            std::vector<int8_t>(static_cast<size_t>(std::max(layout.rows, layout.width / heads)))) {
}

AttentionEncoding::AttentionEncoding(const Build& build, std::string prefix,
                                     std::shared_ptr<std::vector<AttentionScales>> scales)
    : name_(std::move(prefix)),
      layout_(build.layout),
      heads_(build.config.num_heads),
      scales_(std::move(scales)) {}

void AttentionEncoding::run(const Work& work) const {
  const int64_t head = work.part;
  const int64_t head_width = layout_.width / heads_;
  const int64_t stride = 3 * layout_.width;
  float* const queries = work.slot.qkv.data() + head * head_width;
  float* const keys = queries + layout_.width;
  float* const values = keys + layout_.width;
  AttentionScales& scales = (*scales_)[static_cast<size_t>(work.slot_index)];
  float* const query_scales = scales.queries.data() + head * layout_.padded_rows;
  float* const key_scales = scales.keys.data() + head * layout_.rows;
  float* const value_scales = scales.values.data() + head * head_width;
  for (int64_t row = 0; row < layout_.rows; ++row) {
    query_scales[row] = encode(work, {queries + row * stride, 1, head_width});
    key_scales[row] = encode(work, {keys + row * stride, 1, head_width});
  }
  for (int64_t i = 0; i < head_width; ++i)
    value_scales[i] = encode(work, {values + i, stride, layout_.rows});
}

float AttentionEncoding::encode(const Work& work, const Line& line) const {
  AttentionScales& scales = (*scales_)[static_cast<size_t>(work.slot_index)];
  std::vector<int8_t>& codes = scales.codes[static_cast<size_t>(work.part)];
  const auto count = static_cast<size_t>(line.count);
  float* const gathered = work.scratch;
  for (int64_t i = 0; i < line.count; ++i) gathered[i] = line.first[i * line.stride];
  const float scale = quant::encode_int8_row({gathered, count}, {codes.data(), count});
  DRIFTLESS_REQUIRE(scale > 0, ErrorCode::Numeric, "board ", work.slot.board_number, ", layer '",
                    name_, "', call ", work.call,
                    ": queries, keys or values; got a NaN or an infinity, expected finite numbers");
  for (int64_t i = 0; i < line.count; ++i)
    line.first[i * line.stride] = static_cast<float>(codes[static_cast<size_t>(i)]);
  return scale;
}

IntegerAttention::IntegerAttention(const Build& build,
                                   std::shared_ptr<std::vector<AttentionScales>> scales)
    : layout_(build.layout),
      head_width_(model::head_width(build.config)),
      epilogues_(build.epilogues),
      scales_(std::move(scales)),
      scores_(score_shape(layout_, head_width_), build.workers),
      values_(value_shape(layout_, head_width_, head_width_), build.workers),
      bytes_(static_cast<size_t>(build.workers),
             std::vector<uint8_t>(static_cast<size_t>(layout_.rows))) {}

/// Shares [rows, T] | sums of either product.
int64_t IntegerAttention::scratch_size() const {
  return layout_.part_rows * (layout_.rows + 1) +
         std::max(scores_.scratch_size(), values_.scratch_size());
}

void IntegerAttention::attend(const Work& work, int64_t head, int64_t first_row, float* scratch,
                              float* values) const {
  const AttentionScales& scales = (*scales_)[static_cast<size_t>(work.slot_index)];
  const float* const query_scales = scales.queries.data() + head * layout_.padded_rows + first_row;
  const float* const key_scales = scales.keys.data() + head * layout_.rows;
  const float* const value_scales = scales.values.data() + head * head_width_;
  std::vector<uint8_t>& bytes = bytes_[static_cast<size_t>(work.worker)];
  float* const shares = scratch;
  float* const inverses = shares + layout_.part_rows * layout_.rows;
  float* const sums = inverses + layout_.part_rows;
  const float* const qkv = work.slot.qkv.data() + head * head_width_;
  const float* const dots =
      scores_.run(work.worker, qkv + first_row * 3 * layout_.width, qkv + layout_.width, sums);
  const float scale = loop::kLog2E * (1.0f / std::sqrt(static_cast<float>(head_width_)));
  for (int64_t row = 0; row < layout_.part_rows; ++row) {
    float* const out = shares + row * layout_.rows;
    for (int64_t key = 0; key < layout_.rows; ++key)
      out[key] = dots[row * layout_.rows + key] * (query_scales[row] * key_scales[key]);
    const int32_t sum = epilogues_.share_codes(out, layout_.rows, scale, 0, bytes.data());
    std::copy_n(bytes.data(), layout_.rows, out);
    inverses[row] = 1.0f / static_cast<float>(sum);
  }
  const float* const products = values_.run(work.worker, shares, qkv + 2 * layout_.width, sums);
  for (int64_t row = 0; row < layout_.part_rows; ++row)
    for (int64_t i = 0; i < head_width_; ++i)
      values[row * layout_.width + i] =
          products[row * head_width_ + i] * (inverses[row] * value_scales[i]);
}

}  // namespace driftless::simulate
