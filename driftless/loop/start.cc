// SPDX-License-Identifier: Apache-2.0
#include "driftless/loop/start.h"

#include <cmath>

#include "driftless/reason/start.h"

namespace driftless::loop {
namespace {

using model::Positions;

Buffer table(const store::TensorMap& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  return found == tensors.end() ? Buffer() : Buffer(found->second.values);
}

}  // namespace

Start::Start(const model::ModelConfig& config, const store::TensorMap& tensors,
             const Layout& layout)
    : config_(config),
      layout_(layout),
      tokens_(table(tensors, "embed_tokens.embedding_weight")),
      positions_(table(tensors, "embed_pos.embedding_weight")),
      puzzles_(table(tensors, "puzzle_emb.weights")),
      h_init_(table(tensors, "H_init")),
      l_init_(table(tensors, "L_init")) {}

void Start::require_fits(const reason::Board& board) const { reason::require_fits(config_, board); }

void Start::fill(Slot& slot, const reason::Board& board) const {
  embed(slot, board);
  slot.rng = Rng(board.seed);
  if (model::architecture(config_).start == model::StartStates::Drawn) {
    for (int64_t i = 0; i < layout_.rows * layout_.width; ++i)
      slot.z_h.data()[i] = reason::truncated_normal(slot.rng, config_.h_init_std);
    for (int64_t i = 0; i < layout_.rows * layout_.width; ++i)
      slot.z_l.data()[i] = reason::truncated_normal(slot.rng, config_.l_init_std);
    return;
  }
  for (int64_t row = 0; row < layout_.rows; ++row) {
    std::copy_n(h_init_.data(), layout_.width, slot.z_h.data() + row * layout_.width);
    std::copy_n(l_init_.data(), layout_.width, slot.z_l.data() + row * layout_.width);
  }
}

/// x = sqrt(D) * rows, the prefix rows first: the puzzle row, then zeros, cut into rows of D.
/// Learned positions: x = sqrt(D) * (rows + positions) / sqrt(2).
void Start::embed(Slot& slot, const reason::Board& board) const {
  const int64_t width = layout_.width;
  float* const x = slot.x.data();
  const int64_t prefix_size = config_.puzzle_emb_len * width;
  if (prefix_size > 0) {
    std::fill_n(x, prefix_size, 0.0f);
    std::copy_n(puzzles_.data() + board.puzzle * config_.puzzle_emb_ndim, config_.puzzle_emb_ndim,
                x);
  }
  for (int64_t cell = 0; cell < config_.seq_len; ++cell)
    std::copy_n(tokens_.data() + board.tokens[static_cast<size_t>(cell)] * width, width,
                x + prefix_size + cell * width);
  auto scale = std::sqrt(static_cast<float>(width));
  if (config_.positions == Positions::Learned) {
    scale *= 0.707106781f;
    for (int64_t i = 0; i < layout_.rows * width; ++i) x[i] += positions_.data()[i];
  }
  for (int64_t i = 0; i < layout_.rows * width; ++i) x[i] *= scale;
}

}  // namespace driftless::loop
