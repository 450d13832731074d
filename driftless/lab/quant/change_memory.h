// SPDX-License-Identifier: Apache-2.0
// What layers with quant::LayerPlan::delta keep of the boards in a reasoner's slots from one
// network call to the next that updates the same state: the sum of the quantized changes of a
// layer's inputs, and that of their products.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>

#include "driftless/lab/net/step_tap.h"
#include "driftless/model/schedule.h"

namespace driftless::lab {

/// Sums come into being, all zero, when a layer first asks for them.
class ChangeMemory {
 public:
  /// For the calls of a step and so many slots.
  ChangeMemory(const std::vector<model::NetworkCall>& calls, int64_t slots);

  /// Whose boards the next step is for, in order: [boards] int64 on the device, or undefined where
  /// these are all slots.
  void select(const at::Tensor& slots);
  /// New boards are in these slots, [boards] int64 on the device: their sums are zero again.
  void clear(const at::Tensor& slots);
  /// The step of the selected boards is over; they are not new any more.
  void end_step();

  /// How often a layer quantizes and multiplies what is left of a change there, for some boards at
  /// least (loop::kFirstPasses).
  [[nodiscard]] int64_t passes(const Site& site) const;
  /// What is left for a further pass: nothing where the boards are not new.
  [[nodiscard]] at::Tensor left_of_new(const at::Tensor& left, const Site& site) const;

  /// The sums of the boards that a layer runs for at a time.
  class Sums {
   public:
    /// `slots` as in select().
    Sums(const at::Tensor& all, const at::Tensor& slots, int64_t first_board, int64_t boards);

    /// [boards, rows, columns] float32. Adding changes them; so may the memory, later.
    [[nodiscard]] const at::Tensor& values() const { return values_; }
    void add(const at::Tensor& changes);

   private:
    at::Tensor all_;
    at::Tensor slots_;   // undefined: values_ are a part of all_
    at::Tensor values_;  // lie as the memory does
  };

  enum class Of : uint8_t { Input, Output };

  /// Those of a layer's input or output for the boards of `like` [boards, rows, columns], the first
  /// of which is that of the site. They lie as the first `like` does.
  Sums sums(std::string_view layer, Of of, const Site& site, const at::Tensor& like);

 private:
  using Key = std::tuple<std::string, Of, model::State>;

  std::vector<model::State> updated_;  // by call
  int64_t slots_;
  int64_t round_end_;  // the last call of the first round
  at::Tensor selected_;
  at::Tensor is_new_;              // [slots] on the device; undefined before the first boards
  at::Tensor is_selected_new_;     // [boards]
  bool has_new_ = false;           // among the selected
  std::map<Key, at::Tensor> all_;  // [slots, rows, columns], either way round in memory
};

}  // namespace driftless::lab
