// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/summary.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "driftless/base/error.h"

namespace driftless::task {

std::string told(const std::string& what, int64_t count) {
  return what + ": " + std::to_string(count) + "\n";
}

std::string counted(const char* name, int64_t count) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%-12s %lld\n", name, static_cast<long long>(count));
  return text.data();
}

std::string spread(const char* name, const std::vector<int64_t>& values) {
  double sum = 0;
  for (const int64_t value : values) sum += static_cast<double>(value);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "%-12s mean %.2f, %lld to %lld\n", name,
                sum / static_cast<double>(values.size()), static_cast<long long>(*low),
                static_cast<long long>(*high));
  return text.data();
}

void require_answers(std::span<const Example> examples, const std::string& where,
                     bool (*is_answer)(const Example& example)) {
  for (size_t i = 0; i < examples.size(); ++i)
    DRIFTLESS_REQUIRE(is_answer(examples[i]), ErrorCode::BadFile, where, ": board ", i,
                      ": the label is no answer to the question");
}

}  // namespace driftless::task
