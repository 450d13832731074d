// SPDX-License-Identifier: Apache-2.0
#include "driftless/bench/energy.h"

#include <fstream>
#include <string>
#include <system_error>

namespace driftless::bench {
namespace {

std::optional<int64_t> number_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  int64_t value = 0;
  if (!(stream >> value) || value < 0) return std::nullopt;
  return value;
}

}  // namespace

EnergyMeter::EnergyMeter(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    // A package is intel-rapl:0; intel-rapl:0:1 is a part of it.
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("intel-rapl:") || name.find(':') != name.rfind(':')) continue;
    const auto range = number_in(entry.path() / "max_energy_range_uj");
    if (range && number_in(entry.path() / "energy_uj"))
      counters_.push_back({entry.path() / "energy_uj", *range});
  }
}

void EnergyMeter::start() {
  for (Counter& counter : counters_) counter.start_uj = number_in(counter.file).value_or(0);
}

std::optional<double> EnergyMeter::joules() const {
  if (!is_exposed()) return std::nullopt;
  double sum_uj = 0;
  for (const Counter& counter : counters_) {
    const auto now = number_in(counter.file);
    if (!now) return std::nullopt;
    const int64_t used = *now - counter.start_uj;
    sum_uj += static_cast<double>(used < 0 ? used + counter.range_uj : used);
  }
  return sum_uj / 1e6;
}

}  // namespace driftless::bench
