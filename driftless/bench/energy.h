// SPDX-License-Identifier: Apache-2.0
// The energy counters of processor packages, where the machine exposes them (powercap's RAPL
// folders). They count everything that runs on the package.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace driftless::bench {

class EnergyMeter {
 public:
  /// Takes the package counters under `folder`; none where they are absent or not readable.
  explicit EnergyMeter(const std::filesystem::path& folder = "/sys/class/powercap");

  [[nodiscard]] bool is_exposed() const noexcept { return !counters_.empty(); }

  /// Starts to count, and says how much has been used since; nothing where it is not exposed.
  void start();
  [[nodiscard]] std::optional<double> joules() const;

 private:
  struct Counter {
    std::filesystem::path file;
    int64_t range_uj;  // where it begins again at zero
    int64_t start_uj = 0;
  };
  std::vector<Counter> counters_;
};

}  // namespace driftless::bench
