// SPDX-License-Identifier: Apache-2.0
// Attention in int8: queries and keys are codes along the head width, values codes along the keys,
// and shares of the softmax bytes of 0 to 255. docs/numerics.md, "Attention in int8", defines it.
#include <algorithm>
#include <vector>

#include "driftless/native/reasoner/attention.h"
#include "driftless/quant/int8_row.h"

namespace driftless::native {

/// The codes of one board, by head.
struct HeadCodes {
  std::vector<RowMatrix> queries;        // [T, head width]
  std::vector<PanelMatrix> keys;         // a column is a key
  std::vector<PanelMatrix> values;       // a column is a channel
  std::vector<std::vector<int8_t>> row;  // what is being encoded

  HeadCodes(const Qkv& qkv, const RowQuantizer& quantizer, const KernelSet& set) {
    const auto add = [](auto& items, auto item) { items.push_back(std::move(item)); };
    for (int64_t head = 0; head < qkv.heads; ++head) {
      add(queries, quantizer.make(qkv.rows, qkv.head_width));
      add(keys, make_code_panels(qkv.rows, qkv.head_width, set));
      add(values, make_code_panels(qkv.head_width, qkv.rows, set));
      add(row, std::vector<int8_t>(static_cast<size_t>(std::max(qkv.rows, qkv.head_width))));
    }
  }
};

namespace {

using loop::Stage;
using loop::Work;

quant::QuantSpec code_spec() { return quant::parse_quant_spec("int8/token"); }

RowQuantizer row_quantizer(const NativeBuild& build) { return {code_spec(), build.set}; }

/// One object a slot.
SharedScratch<HeadCodes> shared_codes(NativeBuild& build) {
  const Qkv qkv(build);
  return build.shared({.rows = qkv.rows, .k = qkv.head_width}, build.slots,
                      [&] { return HeadCodes(qkv, row_quantizer(build), build.set); });
}

/// Quantizes queries, keys and values; a part is a head.
class Encoding : public Stage {
 public:
  Encoding(NativeBuild& build, std::string prefix)
      : name_(std::move(prefix)), qkv_(build), codes_(shared_codes(build)) {}

  [[nodiscard]] int64_t parts() const override { return qkv_.heads; }

  void run(const Work& work) const override {
    naming_layer(work, name_, [&] { encode(work, work.part); });
  }

 private:
  void encode(const Work& work, int64_t head) const {
    HeadCodes& codes = (*codes_)[static_cast<size_t>(work.slot_index)];
    const auto at = static_cast<size_t>(head);
    const int64_t count = qkv_.head_width;
    std::vector<int8_t>& row_codes = codes.row[at];
    for (int64_t row = 0; row < qkv_.rows; ++row) {
      const float* const query = qkv_.queries(work) + row * qkv_.width + head * count;
      put_row(codes.queries[at], row, encoded(query, count, row_codes));
      const float* const key = qkv_.upright(work, head) + row * count;
      put_column(encoded(key, count, row_codes), codes.keys[at], row);
    }
    for (int64_t i = 0; i < count; ++i) {
      const float* const channel = qkv_.turned(work, head) + i * qkv_.key_stride;
      CodeColumn column = encoded(channel, qkv_.rows, row_codes);
      column.row_offset = kShareOffset;
      put_column(column, codes.values[at], i);
    }
  }

  static CodeColumn encoded(const float* values, int64_t count, std::vector<int8_t>& codes) {
    const auto length = static_cast<size_t>(count);
    const float scale = quant::encode_int8_row({values, length}, {codes.data(), length});
    DRIFTLESS_REQUIRE(scale > 0, ErrorCode::Numeric,
                      "queries, keys or values; got a NaN or an infinity, expected finite numbers");
    return {codes.data(), scale};
  }

  static void put_row(RowMatrix& out, int64_t row, const CodeColumn& codes) {
    uint8_t* const bytes = out.bytes.data() + row * out.stride;
    for (int64_t i = 0; i < out.k; ++i)
      bytes[i] = static_cast<uint8_t>(codes.codes[i] ^ out.set->row_flip);
    out.scales[static_cast<size_t>(row)] = codes.scale;
  }

  /// Bytes of shares count from -128, as all rows do.
  static constexpr int32_t kShareOffset = 128;

  std::string name_;
  Qkv qkv_;
  SharedScratch<HeadCodes> codes_;
};

class IntegerAttention : public AttentionStage {
 public:
  IntegerAttention(NativeBuild& build, const std::string& prefix)
      : AttentionStage(build, prefix, build.set.whole.max_rows),
        set_(build.set),
        share_scale_(loop::kLog2E * score_scale_),
        codes_(shared_codes(build)),
        shares_(build.shared(
            {.rows = set_.whole.max_rows, .k = qkv_.rows, .input = code_spec()},
            [&] { return row_quantizer(build).make(set_.whole.max_rows, qkv_.rows); })) {}

 protected:
  void attend(const Work& work, const QueryTile& tile, float* scores,
              float* values) const override {
    const TileUse use(set_);
    const HeadCodes& codes = (*codes_)[static_cast<size_t>(work.slot_index)];
    const auto head = static_cast<size_t>(tile.head);
    RowMatrix& shares = (*shares_)[static_cast<size_t>(work.worker)];
    const PanelMatrix& keys = codes.keys[head];
    for (int64_t panel = 0; panel < keys.panels; ++panel) {
      TileArgs args = tile_args(codes.queries[head], keys, tile.first, panel);
      args.out = scores + panel * set_.columns;
      args.out_stride = qkv_.key_stride;
      set_.whole.products(args, tile.count);
    }
    for (int64_t query = 0; query < tile.count; ++query) {
      const int32_t sum = epilogues_.share_codes(
          scores + query * qkv_.key_stride, qkv_.rows, share_scale_,
          static_cast<uint8_t>(0x80 ^ set_.row_flip), shares.bytes.data() + query * shares.stride);
      shares.scales[static_cast<size_t>(query)] = 1.0f / static_cast<float>(sum);
    }
    multiply_shares(shares, tile.count, codes.values[head], values);
  }

 private:
  void multiply_shares(const RowMatrix& shares, int64_t rows, const PanelMatrix& channels,
                       float* values) const {
    alignas(kCacheLine) float buffer[kMostTileRows * kMostColumns];
    for (int64_t panel = 0; panel < channels.panels; ++panel) {
      const int64_t first = panel * set_.columns;
      const int64_t columns = std::min(set_.columns, channels.columns - first);
      const bool is_whole = columns == set_.columns;
      TileArgs args = tile_args(shares, channels, 0, panel);
      args.out = is_whole ? values + first : buffer;
      args.out_stride = is_whole ? qkv_.width : set_.columns;
      set_.whole.products(args, rows);
      for (int64_t row = 0; !is_whole && row < rows; ++row)
        std::copy_n(buffer + row * set_.columns, columns, values + row * qkv_.width + first);
    }
  }

  const KernelSet& set_;
  float share_scale_;
  SharedScratch<HeadCodes> codes_;
  SharedScratch<RowMatrix> shares_;
};

}  // namespace

void add_integer_attention(loop::Stages& stages, NativeBuild& build, const std::string& prefix) {
  stages.push_back(std::make_unique<Encoding>(build, prefix));
  stages.push_back(std::make_unique<IntegerAttention>(build, prefix));
}

}  // namespace driftless::native
