// SPDX-License-Identifier: Apache-2.0
// Channel and token mixers: a SwiGLU over the channels of each row, or over the positions of each
// channel, then residual and norm. The reference transposes the state for the latter; here its rows
// are columns of h [T, D], and nothing is transposed.
#include <algorithm>

#include "driftless/simulate/block.h"
#include "driftless/simulate/linear.h"

namespace driftless::simulate {
namespace {

/// down(silu(gate(h)) * up(h)) for the rows of a part. Scratch: gates and ups [rows, 2 inner] |
/// their product [rows, inner] | output [rows, K] | input of a layer where that is a copy. Where
/// rows lie in columns, so do all of them.
class Swiglu {
 public:
  Swiglu(const Build& build, const std::string& prefix, const LinearInput::Shape& shape)
      : rows_(shape.rows),
        lie_(shape.lie),
        silu_mul_(build.epilogues.silu_mul),
        gate_up_(build, prefix + ".gate_up_proj.weight", shape),
        inner_(gate_up_.outputs() / 2),
        down_(build, prefix + ".down_proj.weight",
              {rows_, lie_ == Lie::Rows ? inner_ : rows_, lie_}) {}

  [[nodiscard]] int64_t scratch_size() const {
    return rows_ * (3 * inner_ + down_.outputs()) +
           std::max(gate_up_.scratch_size(), down_.scratch_size());
  }

  /// The output, which lies in the scratch.
  const float* run(const Work& work, const float* h, const PartRows& rows) const {
    float* const gate_up = work.scratch;
    float* const product = gate_up + rows_ * 2 * inner_;
    float* const output = product + rows_ * inner_;
    float* const copy = output + rows_ * down_.outputs();
    gate_up_.run(work, h, rows, copy, gate_up);
    // In columns all gates come before all ups.
    const int64_t runs = lie_ == Lie::Rows ? rows_ : 1;
    const int64_t length = rows_ * inner_ / runs;
    for (int64_t i = 0; i < runs; ++i) {
      const float* const gate = gate_up + i * 2 * length;
      silu_mul_(gate, gate + length, product + i * length, length);
    }
    down_.run(work, product, rows, copy, output);
    return output;
  }

 private:
  int64_t rows_;
  Lie lie_;
  decltype(EpilogueSet::silu_mul) silu_mul_;
  Linear gate_up_;
  int64_t inner_;
  Linear down_;
};

class ChannelMixer : public Stage {
 public:
  ChannelMixer(const Build& build, const std::string& prefix)
      : layout_(build.layout),
        eps_(static_cast<float>(build.config.rms_norm_eps)),
        epilogues_(build.epilogues),
        swiglu_(build, prefix, {layout_.part_rows, layout_.width}) {}

  [[nodiscard]] int64_t parts() const override { return layout_.row_parts; }
  [[nodiscard]] int64_t scratch_size() const override { return swiglu_.scratch_size(); }

  void run(const Work& work) const override {
    const int64_t width = layout_.width;
    const PartRows rows = rows_of(layout_, work.part);
    float* const h = work.h + rows.first * width;
    const float* const output = swiglu_.run(work, h, rows);
    for (int64_t row = 0; row < rows.count; ++row)
      epilogues_.add_norm(h + row * width, output + row * width, width, eps_);
  }

 private:
  Layout layout_;
  float eps_;
  const EpilogueSet& epilogues_;
  Swiglu swiglu_;
};

/// A part is a range of channels, columns of h.
class TokenMixer : public Stage {
 public:
  TokenMixer(const Build& build, const std::string& prefix)
      : layout_(build.layout),
        eps_(static_cast<float>(build.config.rms_norm_eps)),
        epilogues_(build.epilogues),
        swiglu_(build, prefix, {layout_.part_channels, layout_.width, Lie::Columns}) {}

  [[nodiscard]] int64_t parts() const override { return layout_.channel_parts; }
  [[nodiscard]] int64_t scratch_size() const override { return swiglu_.scratch_size(); }

  void run(const Work& work) const override {
    const int64_t channels = layout_.part_channels;
    const PartRows rows{channels, work.part * channels};
    float* const h = work.h + rows.first;
    const float* const output = swiglu_.run(work, h, rows);
    epilogues_.add_norm_columns(h, layout_.width, output, layout_.rows, channels, eps_);
  }

 private:
  Layout layout_;
  float eps_;
  const EpilogueSet& epilogues_;
  Swiglu swiglu_;
};

}  // namespace

void add_channel_mixer(Stages& stages, const Build& build, const std::string& prefix) {
  stages.push_back(std::make_unique<ChannelMixer>(build, prefix));
}

void add_token_mixer(Stages& stages, const Build& build, const std::string& prefix) {
  stages.push_back(std::make_unique<TokenMixer>(build, prefix));
}

}  // namespace driftless::simulate
