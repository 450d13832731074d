// SPDX-License-Identifier: Apache-2.0
// Commands that write, for the tests that disturb them, and what their outputs have in common from
// run to run.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace driftless::cli_testing {

struct Job {
  const char* name;
  std::string arguments;      // before the file that it writes
  bool adds_lines = false;    // to a file of records, which a second run goes on with
  bool varies = false;        // JSON whose figures are measured
  bool prints = false;        // instead of writing a file
  bool forks = false;         // to measure what a copy of itself takes
  std::string environment{};  // such as "NAME=value"
};

inline std::ostream& operator<<(std::ostream& out, const Job& job) { return out << job.name; }

/// One of every kind of output.
inline std::vector<Job> jobs() {
  const std::string model = DRIFTLESS_MODEL;
  const std::string data = " --data models/demo-sudoku.csv ";
  return {
      {"convert", "convert " + model + " --out "},
      {"quantize", "quantize " + model + " --weights mxint4 --out "},
      {"generate", "data generate --task sudoku --count 20 --seed 1 --out "},
      {"boards", "data convert models/demo-sudoku.csv --out "},
      {"predict", std::string("eval ") + DRIFTLESS_PACKED_MODEL + data +
                      "--native --limit 2 --steps 2 --threads 2 --predictions "},
      {"ladder",
       "ladder " + model + data + "--limit 1 --steps 1 --threads 1 --schemes none mxint4 --json "},
      {"trace",
       "trace " + model + data + "--limit 1 --steps 1 --threads 1 --schemes none mxint4 --out "},
      {"study",
       "study tests/cli/faults/study.toml --model " + model + data + "--limit 1 --threads 1 --out ",
       true},
      {"report", "report docs/results/claims.jsonl --out "},
      {"onnx", "export onnx " + model + " "},
  };
}

using Json = nlohmann::ordered_json;

/// Without times, which differ from run to run.
inline void drop_times(Json& value) {
  if (value.is_object())
    for (const char* const key : {"timing", "wall_s", "seconds"}) value.erase(key);
  if (value.is_structured())
    for (Json& inner : value) drop_times(inner);
}

/// JSON as one line, JSON Lines as theirs, any other text as its own.
inline std::vector<std::string> comparable_lines(const std::string& text) {
  const auto comparable = [](const std::string& part) {
    Json value = Json::parse(part, nullptr, /*allow_exceptions=*/false);
    if (!value.is_structured()) return part;
    drop_times(value);
    return value.dump();
  };
  const std::string whole = comparable(text);
  if (whole != text) return {whole};
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(comparable(line));
  return lines;
}

/// How many disturbed runs: few in the tests, as many as DRIFTLESS_SOAK says in scripts/soak.
inline int64_t rounds(int64_t few) {
  const char* const soak = std::getenv("DRIFTLESS_SOAK");
  return soak == nullptr ? few : std::max<int64_t>(few, std::atoll(soak));
}

}  // namespace driftless::cli_testing
