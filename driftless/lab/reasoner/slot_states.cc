// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/reasoner/slot_states.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "driftless/model/shapes.h"

namespace driftless::lab {
namespace {

at::Tensor index_of(std::span<const int64_t> slots) {
  at::Tensor index = at::empty({std::ssize(slots)}, at::kLong);
  std::copy(slots.begin(), slots.end(), index.data_ptr<int64_t>());
  return index;
}

bool are_all(std::span<const int64_t> slots, int64_t count) {
  bool is_everything = std::ssize(slots) == count;
  for (size_t i = 0; i < slots.size() && is_everything; ++i)
    is_everything = std::cmp_equal(slots[i], i);
  return is_everything;
}

at::Tensor on_host(const at::Tensor& values) {
  if (!values.is_cuda()) return values.to(at::kFloat).contiguous();
  // The device writes to pinned memory several times faster.
  const at::TensorOptions pinned = at::TensorOptions(at::kFloat).pinned_memory(true);
  return at::empty(values.sizes(), pinned).copy_(values);
}

std::span<const float> row_of(const at::Tensor& values, int64_t slot) {
  const int64_t size = values.size(1) * values.size(2);
  return {values.data_ptr<float>() + slot * size, static_cast<size_t>(size)};
}

void copy_row(std::span<const float> from, const at::Tensor& to) {
  at::Tensor host = at::empty(to.sizes(), at::kFloat);
  std::memcpy(host.data_ptr(), from.data(), from.size_bytes());
  to.copy_(host);
}

}  // namespace

SlotStates::SlotStates(const RecursiveNet& net, at::Tensor puzzle_table, const Options& options)
    : net_(net),
      tokens_(at::zeros({options.slots, net.config().seq_len}, at::kByte)),
      puzzle_table_(std::move(puzzle_table)),
      puzzle_rows_(at::zeros({options.slots}, at::kLong)),
      seeds_(static_cast<size_t>(options.slots)),
      is_fresh_(static_cast<size_t>(options.slots)) {
  const model::ModelConfig& config = net.config();
  const std::vector<int64_t> sizes = {options.slots, model::positions_count(config),
                                      config.hidden_size};
  if (model::architecture(config).draws_noise())
    noise_.emplace(BoardNoise::Options{.slots = options.slots,
                                       .count = sizes[1] * sizes[2],
                                       .threads = options.threads,
                                       .device = options.on_device.device()});
  if (options.keeps_changes) changes_.emplace(model::schedule(config), options.slots);
  states_ = {at::zeros(sizes, options.on_device), at::zeros(sizes, options.on_device)};
  inputs_.tokens = tokens_.to(options.on_device.device());
  if (puzzle_table_.defined())
    inputs_.puzzles =
        at::zeros({options.slots, config.puzzle_emb_ndim}, options.on_device.dtype(at::kFloat));
}

void SlotStates::put(int64_t slot, const reason::Board& board) {
  std::copy(board.tokens.begin(), board.tokens.end(),
            tokens_.data_ptr<uint8_t>() + slot * tokens_.size(1));
  puzzle_rows_.data_ptr<int64_t>()[slot] = board.puzzle;
  seeds_[static_cast<size_t>(slot)] = board.seed;
  is_fresh_[static_cast<size_t>(slot)] = true;
  host_states_ = {};
}

void SlotStates::move_fresh_boards() {
  std::vector<int64_t> fresh;
  std::vector<uint64_t> seeds;
  for (int64_t i = 0; i < count(); ++i) {
    if (!is_fresh_[static_cast<size_t>(i)]) continue;
    fresh.push_back(i);
    seeds.push_back(seeds_[static_cast<size_t>(i)]);
  }
  if (fresh.empty()) return;
  is_fresh_.assign(is_fresh_.size(), false);
  const at::Tensor host_index = index_of(fresh);
  const at::Tensor index = host_index.to(states_.h.device());
  const auto put_rows = [&](at::Tensor& all, const at::Tensor& some) {
    all.index_copy_(0, index, some.to(all.options()));
  };
  put_rows(inputs_.tokens, tokens_.index_select(0, host_index));
  if (puzzle_table_.defined())
    put_rows(inputs_.puzzles,
             puzzle_table_.index_select(0, puzzle_rows_.index_select(0, host_index)));
  const model::ModelConfig& config = net_.config();
  TensorStates initial;
  if (noise_.has_value()) noise_->seed(fresh, seeds);
  if (model::architecture(config).start == model::StartStates::Drawn) {
    const std::vector<int64_t> sizes = {std::ssize(fresh), states_.h.size(1), states_.h.size(2)};
    initial.h = noise_->truncated_normal(fresh, config.h_init_std).view(sizes);
    initial.l = noise_->truncated_normal(fresh, config.l_init_std).view(sizes);
  } else {
    initial = net_.initial_states(std::ssize(fresh));
  }
  put_rows(states_.h, initial.h);
  put_rows(states_.l, initial.l);
  if (changes_.has_value()) changes_->clear(index);
}

at::Tensor SlotStates::draw_noise(std::span<const int64_t> slots) {
  return noise_->standard_normal(slots).view(
      {std::ssize(slots), states_.h.size(1), states_.h.size(2)});
}

SlotStates::Selection SlotStates::select(std::span<const int64_t> slots) {
  move_fresh_boards();
  Selection selection;
  selection.host_index = index_of(slots);
  if (!are_all(slots, count())) selection.index = selection.host_index.to(states_.h.device());
  const auto some = [&](const at::Tensor& all) {
    return selection.index.defined() && all.defined() ? all.index_select(0, selection.index) : all;
  };
  selection.states = {some(states_.h), some(states_.l)};
  selection.inputs = {some(inputs_.tokens), some(inputs_.puzzles)};
  if (changes_.has_value()) {
    changes_->select(selection.index);
    selection.changes = &*changes_;
  }
  return selection;
}

void SlotStates::store(const Selection& selection, const TensorStates& states) {
  host_states_ = {};
  if (!selection.index.defined()) {
    states_ = states;
    return;
  }
  states_.h.index_copy_(0, selection.index, states.h);
  states_.l.index_copy_(0, selection.index, states.l);
}

reason::States SlotStates::read(int64_t slot) {
  move_fresh_boards();
  if (!host_states_.h.defined()) host_states_ = {on_host(states_.h), on_host(states_.l)};
  return {.h = row_of(host_states_.h, slot), .l = row_of(host_states_.l, slot)};
}

void SlotStates::set(int64_t slot, const reason::States& states) {
  move_fresh_boards();
  copy_row(states.h, states_.h.select(0, slot));
  copy_row(states.l, states_.l.select(0, slot));
  host_states_ = {};
}

}  // namespace driftless::lab
