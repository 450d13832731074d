// SPDX-License-Identifier: Apache-2.0
#include "driftless/bench/calm.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <thread>
#include <vector>

#include <unistd.h>

#include "driftless/bench/peaks.h"

namespace driftless::bench {
namespace {

/// Seconds that all processors have worked since the start, and those of this process.
struct Work {
  double all_s = 0;
  double own_s = 0;
};

/// The first line of /proc/stat: user nice system idle iowait irq softirq steal, in ticks. Time
/// that the host took away (steal) counts as work of others. Zero where there is no such file.
Work work_so_far() {
  std::ifstream file("/proc/stat");
  std::string word;
  double user = 0;
  double nice = 0;
  double system = 0;
  double idle = 0;
  double waiting = 0;
  double irq = 0;
  double soft_irq = 0;
  double steal = 0;
  file >> word >> user >> nice >> system >> idle >> waiting >> irq >> soft_irq >> steal;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return {(user + nice + system + irq + soft_irq + steal) / ticks,
          static_cast<double>(std::clock()) / CLOCKS_PER_SEC};
}

Calm look(ThreadPool& pool) {
  constexpr int kPeaks = 200;
  Contender peak = peak_contender(int8_peak(), pool);
  const Work before = work_so_far();
  const auto start = std::chrono::steady_clock::now();
  std::vector<double> seconds;
  seconds.reserve(kPeaks);
  for (int i = 0; i < kPeaks; ++i) seconds.push_back(peak.timed_work());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const double passed_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Work after = work_so_far();
  std::sort(seconds.begin(), seconds.end());
  Calm calm;
  calm.peak_spread = 1 - seconds.front() / seconds[seconds.size() / 2];
  const double foreign_s = (after.all_s - before.all_s) - (after.own_s - before.own_s);
  const auto processors = static_cast<double>(std::max(1u, std::thread::hardware_concurrency()));
  calm.foreign_share = std::max(0.0, foreign_s / (passed_s * processors));
  calm.is_calm = calm.peak_spread <= kCalmSpread && calm.foreign_share <= kCalmForeign;
  return calm;
}

}  // namespace

Calm wait_for_calm(ThreadPool& pool, double patience_s) {
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    Calm calm = look(pool);
    calm.waited_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (calm.is_calm || calm.waited_s >= patience_s) return calm;
  }
}

std::string to_string(const Calm& calm) {
  char text[160];
  std::snprintf(text, sizeof(text),
                "%s (others use %.0f %% of the processors, repeated peaks differ by %.1f %%)",
                calm.is_calm ? "calm" : "NOT CALM: figures are too low", 100 * calm.foreign_share,
                100 * calm.peak_spread);
  return text;
}

}  // namespace driftless::bench
