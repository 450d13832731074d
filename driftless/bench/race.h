// SPDX-License-Identifier: Apache-2.0
// Pieces of work timed in turn, so that a busy moment of the machine meets all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace driftless::bench {

struct Contender {
  std::string name;
  std::function<void()> work = {};
  /// Does the work and says how long that took; instead of `work`, where starting it does not
  /// count.
  std::function<double()> timed_work = {};
  double operations = 0;  ///< multiplications and additions of one piece of work
  /// Called when its turn is over, such as to end threads that would spin beside the next one.
  std::function<void()> after = {};
  std::vector<double> seconds = {};  ///< of each piece so far

  [[nodiscard]] double best_gflops() const;
  [[nodiscard]] double median_gflops() const;
};

/// The middle one, of two the larger. Requires a value.
double median(std::vector<double> values);

/// More rounds for a peak that was disturbed in all of them: until its best is not below `gflops`,
/// and at most two hundred.
void repeat_while_outrun(Contender& peak, double gflops);

/// Throws Internal when a rate exceeds the peak that it is made of: the peak was taken while the
/// machine was busy, and no share of it means anything.
void require_below_peak(const std::string& name, double gflops, double peak_gflops);

double seconds_of(const std::function<void()>& work);

/// `rounds` times: each contender three times in a row, so that the caches hold what it uses and
/// not what another left.
void race(std::vector<Contender>& contenders, int64_t rounds);

}  // namespace driftless::bench
