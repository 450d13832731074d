// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/quant/change_memory.h"

#include "driftless/lab/quant/quantize.h"

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
}

void ChangeMemory::clear(const at::Tensor& slots) {
  for (auto& [key, all] : all_) all.index_fill_(0, slots, 0);
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
