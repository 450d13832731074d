// SPDX-License-Identifier: Apache-2.0
// Shows boards to observers, as many at a time as there are threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "driftless/quant/plan/plan.h"
#include "driftless/reason/reasoner.h"

namespace driftless::reason {

/// Makes a reasoner of one model that follows a plan; null means float.
using MakeReasoner = std::function<std::unique_ptr<Reasoner>(const quant::QuantPlan* plan)>;

/// Hears how many boards have run, one call at a time. What it throws ends the run.
using OnBoard = std::function<void(int64_t done)>;

/// The model and the boards that observers are to see.
struct Watched {
  const MakeReasoner& make;
  const quant::QuantPlan* plan;
  std::span<const Board> boards;
  std::string_view halting = "fixed";  ///< one of halting_policies()
};

/// Runs each board until it halts, at most as many steps as the model was trained with. Observer i
/// sees the i-th of equal parts of the boards, from a reasoner of its own.
void watch(const Watched& watched, std::span<StepObserver* const> observers, int64_t threads,
           const OnBoard& on_board);

}  // namespace driftless::reason
