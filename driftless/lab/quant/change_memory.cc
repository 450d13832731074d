// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/quant/change_memory.h"

#include <algorithm>

#include "driftless/lab/quant/quantize.h"
#include "driftless/loop/stage.h"

namespace driftless::lab {
namespace {

/// As it lies in memory. Boards come first either way.
at::Tensor as_it_lies(const at::Tensor& values) {
  return lies_in_columns(values) ? values.transpose(1, 2) : values;
}

at::Tensor zeros_like(const at::Tensor& values, int64_t slots) {
  std::vector<int64_t> sizes = as_it_lies(values).sizes().vec();
  sizes[0] = slots;
  const at::Tensor zeros = at::zeros(sizes, values.options().dtype(at::kFloat));
  return lies_in_columns(values) ? zeros.transpose(1, 2) : zeros;
}

}  // namespace

ChangeMemory::ChangeMemory(const std::vector<model::NetworkCall>& calls, int64_t slots)
    : slots_(slots) {
  for (const model::NetworkCall& call : calls) updated_.push_back(call.updates);
  round_end_ = std::find(updated_.begin(), updated_.end(), model::State::H) - updated_.begin();
}

void ChangeMemory::select(const at::Tensor& slots) {
  selected_ = slots;
  has_new_ = is_new_.defined();
  if (!has_new_) return;
  is_selected_new_ = slots.defined() ? is_new_.index_select(0, slots) : is_new_;
  has_new_ = is_selected_new_.any().item<bool>();
}

void ChangeMemory::clear(const at::Tensor& slots) {
  for (auto& [key, all] : all_) all.index_fill_(0, slots, 0);
  if (!is_new_.defined()) is_new_ = at::zeros({slots_}, slots.options().dtype(at::kBool));
  is_new_.index_fill_(0, slots, true);
}

void ChangeMemory::end_step() {
  if (!has_new_) return;
  if (selected_.defined())
    is_new_.index_fill_(0, selected_, false);
  else
    is_new_.zero_();
}

int64_t ChangeMemory::passes(const Site& site) const {
  return has_new_ && site.call <= round_end_ ? loop::kFirstPasses : 1;
}

at::Tensor ChangeMemory::left_of_new(const at::Tensor& left, const Site& site) const {
  const at::Tensor is_new = is_selected_new_.narrow(0, site.first_board, left.size(0));
  return left.masked_fill(is_new.logical_not().view({-1, 1, 1}), 0);
}

ChangeMemory::Sums ChangeMemory::sums(std::string_view layer, Of of, const Site& site,
                                      const at::Tensor& like) {
  at::Tensor& all = all_[{std::string(layer), of, updated_[static_cast<size_t>(site.call)]}];
  if (!all.defined()) all = zeros_like(like, slots_);
  return {all, selected_, site.first_board, like.size(0)};
}

ChangeMemory::Sums::Sums(const at::Tensor& all, const at::Tensor& slots, int64_t first_board,
                         int64_t boards)
    : all_(all) {
  if (!slots.defined()) {
    values_ = all.narrow(0, first_board, boards);
    return;
  }
  slots_ = slots.narrow(0, first_board, boards);
  values_ = as_it_lies(all).index_select(0, slots_);
  if (lies_in_columns(all)) values_ = values_.transpose(1, 2);
}

void ChangeMemory::Sums::add(const at::Tensor& changes) {
  values_.add_(changes);
  if (slots_.defined()) as_it_lies(all_).index_copy_(0, slots_, as_it_lies(values_));
}

}  // namespace driftless::lab
