// SPDX-License-Identifier: Apache-2.0
// What a study adds up over boards. Everything is a sum, so results of disjoint sets of boards
// merge by addition; sets are merged in the order of their boards, so that the last bit does not
// depend on who computed which.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/task/score.h"

namespace driftless::study {

using task::Moments;

/// Moments by name and index (a supervision step, a call), and vectors that are summed by element.
class Tally {
 public:
  /// Adds a value for one board. Indices may come in any order.
  void add(std::string_view name, int64_t index, double value);
  /// Adds a vector to the sum called `name`. Its length must not change.
  void add_vector(std::string_view name, std::span<const double> values);

  [[nodiscard]] bool has(std::string_view name) const;
  /// Empty where the name is unknown.
  [[nodiscard]] std::span<const Moments> series(std::string_view name) const;
  [[nodiscard]] std::span<const double> vector(std::string_view name) const;
  /// The names of all series, sorted.
  [[nodiscard]] std::vector<std::string_view> names() const;

  void merge(const Tally& other);

  /// Bytes for another process of the same program on the same kind of machine.
  [[nodiscard]] std::vector<uint8_t> to_bytes() const;
  /// Throws BadFile where the bytes are not those of a tally.
  static Tally from_bytes(std::span<const uint8_t> bytes);

  bool operator==(const Tally&) const = default;

 private:
  std::map<std::string, std::vector<Moments>, std::less<>> series_;
  std::map<std::string, std::vector<double>, std::less<>> vectors_;
};

}  // namespace driftless::study
