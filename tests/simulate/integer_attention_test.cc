// SPDX-License-Identifier: Apache-2.0
// Attention in int8 once more, number by number: from the quantized inputs of the projection, which
// the simulation shows, to the values that enter the output projection, bit for bit. Only the codes
// of the shares come from the engine's own function, which tests/loop checks.
#include "driftless/simulate/integer_attention.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "driftless/quant/quantizer.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/simulate/cpu_reasoner.h"

#include "tests/simulate/random_model.h"
#include "tests/testing/expect_error.h"

namespace driftless::simulate {
namespace {

using Row = std::vector<float>;
using Rows = std::vector<Row>;

/// What the first block of the first call multiplies: rows by the name of the layer.
struct Recorder : reason::StepObserver {
  std::map<std::string, Rows> exact, quantized;

  [[nodiscard]] bool wants(reason::Point point) const override {
    return point == reason::Point::LinearInput || point == reason::Point::QuantizedInput;
  }
  void observe(const reason::Observation& seen) override {
    if (seen.call != 0) return;
    Rows& rows =
        (seen.point == reason::Point::LinearInput ? exact : quantized)[std::string(seen.layer)];
    for (int64_t r = 0; r < seen.values.rows; ++r) {
      Row row;
      for (int64_t c = 0; c < seen.values.columns; ++c) row.push_back(seen.values.at(r, c));
      rows.push_back(row);
    }
  }
};

struct Codes {
  float scale;
  std::vector<int64_t> values;
};

Codes codes_of(const Row& values) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  Codes codes{std::max(largest / 127.0f, 0x1p-126f), {}};
  for (const float value : values)
    codes.values.push_back(static_cast<int64_t>(std::nearbyint(value / codes.scale)));
  return codes;
}

int64_t dot(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  int64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// x W^T. Sums are exact in float32 and so in double.
Rows project(const Rows& x, const Row& weight) {
  const size_t inputs = x[0].size();
  Rows out;
  for (const Row& row : x) {
    Row sums;
    for (size_t first = 0; first < weight.size(); first += inputs) {
      double sum = 0;
      for (size_t i = 0; i < inputs; ++i) sum += double{row[i]} * double{weight[first + i]};
      sums.push_back(static_cast<float>(sum));
    }
    out.push_back(sums);
  }
  return out;
}

/// The values of one head, from all rows of queries | keys | values.
Rows attend(const Rows& qkv, size_t first, size_t count) {
  const size_t width = qkv[0].size() / 3;
  const auto part = [&](const Row& row, size_t which) {
    const auto begin = row.begin() + static_cast<int64_t>(which * width + first);
    return Row(begin, begin + static_cast<int64_t>(count));
  };
  std::vector<Codes> keys, channels;
  for (const Row& row : qkv) keys.push_back(codes_of(part(row, 1)));
  for (size_t i = 0; i < count; ++i) {
    Row channel;
    for (const Row& row : qkv) channel.push_back(part(row, 2)[i]);
    channels.push_back(codes_of(channel));
  }
  Rows out;
  for (const Row& row : qkv) {
    const Codes query = codes_of(part(row, 0));
    Row scores;
    for (const Codes& key : keys)
      scores.push_back(static_cast<float>(dot(query.values, key.values)) *
                       (query.scale * key.scale));
    std::vector<uint8_t> bytes(scores.size());
    const float scale = 1.44269504f * (1.0f / std::sqrt(static_cast<float>(count)));
    loop::available_epilogues().back()->share_codes(scores.data(), std::ssize(scores), scale, 0,
                                                    bytes.data());
    const std::vector<int64_t> shares(bytes.begin(), bytes.end());
    int64_t all = 0;
    for (const int64_t share : shares) all += share;
    Row values;
    for (const Codes& channel : channels)
      values.push_back(static_cast<float>(dot(shares, channel.values)) *
                       (1.0f / static_cast<float>(all) * channel.scale));
    out.push_back(values);
  }
  return out;
}

struct Shape {
  int64_t rows, heads, head_width;
};

/// Fewer keys than a vector, several row parts, more keys than one exact piece.
constexpr Shape kShapes[] = {{6, 3, 8}, {101, 2, 33}, {64, 2, 32}, {530, 1, 40}};

TEST(IntegerAttention, IsTheScalarTruth) {
  for (const Shape& shape : kShapes) {
    model::ModelConfig config = testing::named_configs()[3].config;
    ASSERT_EQ(config.mixer, model::Mixer::Attention);
    config.seq_len = shape.rows;
    config.num_heads = shape.heads;
    config.hidden_size = shape.heads * shape.head_width;
    config.h_cycles = config.l_cycles = config.num_layers = 1;
    const auto checkpoint = testing::random_checkpoint(config, 5);
    const auto spec = quant::parse_quant_spec("mxint4,window=4");
    const quant::QuantPlan plan = quant::resolve(
        {.weights = spec, .acts = spec, .attention = quant::AttentionPrecision::Int8},
        reason::linear_layers(config));
    std::unique_ptr<reason::Reasoner> reasoner;
    try {
      reasoner = make_cpu_reasoner(checkpoint, {.slots = 2, .plan = &plan});
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Unsupported) throw;
      GTEST_SKIP() << error.what();
    }
    reasoner->reset(1, {.tokens = testing::random_tokens(config, 1)});
    Recorder seen;
    reasoner->step(std::vector<int64_t>{1}, &seen);
    const std::string name = "L_level.layers.0.self_attn.";
    Row weight = checkpoint.tensors.at(name + "qkv_proj.weight").values;
    const quant::Mat matrix{weight.data(), 3 * config.hidden_size, config.hidden_size};
    quant::Quantizer(spec).fake_quantize({matrix.data, matrix.rows, matrix.cols}, matrix);
    const Rows qkv = project(seen.quantized.at(name + "qkv_proj.weight"), weight);
    const Rows& got = seen.exact.at(name + "o_proj.weight");
    ASSERT_EQ(std::ssize(got), shape.rows);
    for (int64_t head = 0; head < shape.heads; ++head) {
      const auto first = static_cast<size_t>(head * shape.head_width);
      const auto count = static_cast<size_t>(shape.head_width);
      const Rows expected = attend(qkv, first, count);
      for (size_t row = 0; row < got.size(); ++row)
        for (size_t i = 0; i < count; ++i)
          ASSERT_EQ(got[row][first + i], expected[row][i])
              << shape.rows << " keys, head " << head << ", row " << row << ", channel " << i;
    }
  }
}

TEST(IntegerAttention, RefusesModelsWithoutAttention) {
  const auto config = testing::named_configs()[0].config;
  const auto checkpoint = testing::random_checkpoint(config, 5);
  const quant::QuantPlan plan{.attention = quant::AttentionPrecision::Int8};
  EXPECT_ERROR((void)make_cpu_reasoner(checkpoint, {.plan = &plan}), ErrorCode::BadConfig,
               "attention");
}

TEST(IntegerAttention, AloneRunsInAFloatModelOnAnyThreads) {
  const auto config = testing::named_configs()[4].config;
  const auto checkpoint = testing::random_checkpoint(config, 5);
  const quant::QuantPlan plan{.attention = quant::AttentionPrecision::Int8};
  const auto state = [&](const CpuOptions& options) {
    const auto reasoner = make_cpu_reasoner(checkpoint, options);
    reasoner->reset(0, {.tokens = testing::random_tokens(config, 1)});
    reasoner->step(std::vector<int64_t>{0});
    const auto h = reasoner->states(0).h;
    return Row(h.begin(), h.end());
  };
  try {
    const Row expected = state({.slots = 1, .plan = &plan});
    EXPECT_EQ(state({.slots = 1, .threads = 2, .plan = &plan}), expected);
    EXPECT_NE(state({.slots = 1}), expected);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Unsupported) throw;
    GTEST_SKIP() << error.what();
  }
}

}  // namespace
}  // namespace driftless::simulate
