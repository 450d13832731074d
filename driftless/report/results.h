// SPDX-License-Identifier: Apache-2.0
// What a report is made of, read from JSON Lines. A line is an object of one of seven kinds, told
// by a key: a record of a study ("schema"), of quantization-aware training ("qat") or of a
// benchmark
// ("peaks"), a trace of boards ("trace"), a claim with our verdict on it ("claim"), an evaluation
// ("halting") or a line of a training log ("kind"). A line that cannot be used is left out and
// remembered, for the page to say so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace driftless::report {

using Json = nlohmann::json;

struct Skipped {
  std::string where;  ///< file name and line
  std::string reason;
};

struct Results {
  std::vector<Json> records;
  std::vector<Json> qat;
  std::vector<Json> benches;
  std::vector<Json> traces;
  std::vector<Json> claims;
  std::vector<Json> evals;
  std::vector<Json> logs;  ///< with the name of their file as "file"
  std::vector<Skipped> skipped;
  std::vector<std::string> files;  ///< names without folders
};

/// Throws Error, its message starting with `where`, if a line is not sound. Claims, evaluations and
/// logs are checked here, the others by whoever defines them.
using Check = std::function<void(const Json& line, std::string_view where)>;
struct Checks {
  Check record;
  Check qat;
  Check bench;
  Check trace;
};

/// {"claim": title, "source": where it is made, "theirs": its numbers, "study": name of ours or
/// null, "ours": our numbers, "verdict": "holds", "in part", "fails" or null while unmeasured,
/// "reason": text}. Throws BadFile.
void require_claim(const Json& claim, std::string_view where);

/// What the figures read of driftless eval --json: the model, and a share of boards as "exact" or
/// votes as "pass". Throws BadFile.
void require_eval(const Json& eval, std::string_view where);

/// What they read of the metrics.jsonl of driftless train: the kind of line and its step, and of an
/// evaluation the share of boards with its interval. Throws BadFile.
void require_log(const Json& line, std::string_view where);

/// Adds the lines of a file, or its one object if that is spread over lines, the first of them "{".
/// Throws Io when it cannot be read.
void add_file(const std::filesystem::path& path, const Checks& checks, Results& results);
/// The same of a text, which messages and the page call `name`.
void add_text(std::string_view text, const std::string& name, const Checks& checks,
              Results& results);

}  // namespace driftless::report
