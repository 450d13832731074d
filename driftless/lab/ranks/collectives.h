// SPDX-License-Identifier: Apache-2.0
// Ranks on a process group of torch's c10d, whichever its transport: sources that know the
// transport include this.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "driftless/base/error.h"
#include "driftless/lab/ranks/ranks.h"

namespace driftless::lab {

constexpr std::chrono::seconds kPatience{kPatienceSeconds};

/// torch's exceptions as Io: whatever a transport throws, another rank or the way to it is gone.
template <class Action>
auto or_lost(const RankPlace& place, Action action) -> decltype(action()) {
  try {
    return action();
  } catch (const std::exception& error) {
    const std::string text = error.what();
    fail(ErrorCode::Io, "rank ", place.rank, " of ", place.size,
         ": lost another rank; start the job again with --resume (",
         text.substr(0, text.find('\n')), ")");
  }
}

template <class Group>
class Collectives final : public Ranks {
 public:
  Collectives(RankPlace place, c10::intrusive_ptr<c10d::Store> store, Group group)
      : place_(std::move(place)), store_(std::move(store)), group_(std::move(group)) {}

  [[nodiscard]] int64_t rank() const override { return place_.rank; }
  [[nodiscard]] int64_t size() const override { return place_.size; }

  void sum(at::Tensor& values) override {
    if (values.numel() == 0) return;
    or_lost(place_, [&] {
      std::vector<at::Tensor> tensors = {values};
      group_->allreduce(tensors)->wait();
    });
  }

  at::Tensor gather(const at::Tensor& part) override {
    return or_lost(place_, [&] {
      // As bytes: not every transport knows every element type.
      std::vector<at::Tensor> mine = {part.contiguous().view(at::kByte)};
      std::vector<std::vector<at::Tensor>> all(1);
      for (int64_t i = 0; i < size(); ++i) all[0].push_back(at::empty_like(mine[0]));
      group_->allgather(all, mine)->wait();
      return at::cat(all[0], 0).view(part.scalar_type());
    });
  }

 private:
  RankPlace place_;
  c10::intrusive_ptr<c10d::Store> store_;
  Group group_;
};

/// Opens the store at rank 0, makes the group with it and waits until every rank answers.
template <class MakeGroup>
std::shared_ptr<Ranks> join_collectives(const RankPlace& place, MakeGroup make_group) {
  return or_lost(place, [&] {
    c10d::TCPStoreOptions options;
    options.port = static_cast<std::uint16_t>(place.port);
    options.isServer = place.rank == 0;
    options.numWorkers = static_cast<std::size_t>(place.size);
    options.timeout = kPatience;
    auto store = c10::make_intrusive<c10d::TCPStore>(place.host, options);
    auto group = make_group(store);
    auto ranks = std::make_shared<Collectives<decltype(group)>>(place, store, group);
    return std::shared_ptr<Ranks>(std::move(ranks));
  });
}

}  // namespace driftless::lab
