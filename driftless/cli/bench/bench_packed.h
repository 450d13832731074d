// SPDX-License-Identifier: Apache-2.0
// driftless bench PACKED: what a packed model costs and solves beside its float source and int8.
#pragma once

#include <cstdint>
#include <string>

namespace driftless::cli {

struct PackedBenchOptions {
  std::string model;
  std::string source;  // "": the file beside it that it was made from, where that is there
  std::string data;    // "": the bundled boards
  int64_t boards = 0;  // 0: kPackedBenchBoards
  int64_t threads = 1;
  std::string halting = "halt";
  double patience_s = 0;
  std::string json;
};

inline constexpr int64_t kPackedBenchBoards = 32;

/// Prints the table. Throws what reading files and running models throw.
void bench_packed(const PackedBenchOptions& options);

}  // namespace driftless::cli
