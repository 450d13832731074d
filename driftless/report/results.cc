// SPDX-License-Identifier: Apache-2.0
#include "driftless/report/results.h"

#include <algorithm>
#include <array>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/json.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"

namespace driftless::report {
namespace {

constexpr std::array<std::string_view, 4> kClaimTexts = {"claim", "source", "theirs", "reason"};
constexpr std::array<std::string_view, 3> kVerdicts = {"holds", "in part", "fails"};

/// A kind of line: the key that tells it, its check and where it goes.
struct Kind {
  std::string_view key;
  const Check& check;
  std::vector<Json>& list;
};

void add_line(std::string_view text, const std::string& where, const Checks& checks,
              Results& results) {
  const Check check_claim = require_claim;
  const Check check_eval = require_eval;
  const Check check_log = require_log;
  const std::array<Kind, 7> kinds = {{{"schema", checks.record, results.records},
                                      {"qat", checks.qat, results.qat},
                                      {"peaks", checks.bench, results.benches},
                                      {"trace", checks.trace, results.traces},
                                      {"claim", check_claim, results.claims},
                                      {"halting", check_eval, results.evals},
                                      {"kind", check_log, results.logs}}};
  Json line = parse_json(text, where);
  DRIFTLESS_REQUIRE(line.is_object(), ErrorCode::BadFile, where, ": expected an object");
  const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const Kind& known) { return line.contains(known.key); });
  DRIFTLESS_REQUIRE(kind != kinds.end(), ErrorCode::BadFile, where,
                    ": neither a record, a benchmark, a trace, a claim, an evaluation nor a log");
  kind->check(line, where);
  if (kind->key == "kind") line["file"] = where.substr(0, where.rfind(':'));
  kind->list.push_back(std::move(line));
}

std::string_view trimmed(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
}

bool is_one_object(std::string_view text) {
  return trimmed(text.substr(0, text.find('\n'))) == "{";
}

}  // namespace

void require_claim(const Json& claim, std::string_view where) {
  for (const std::string_view key : kClaimTexts)
    DRIFTLESS_REQUIRE(claim.contains(key) && claim.at(key).is_string(), ErrorCode::BadFile, where,
                      ": claim: expected a text '", key, "'");
  for (const std::string_view key : {"study", "ours", "verdict"})
    DRIFTLESS_REQUIRE(claim.contains(key) && (claim.at(key).is_string() || claim.at(key).is_null()),
                      ErrorCode::BadFile, where, ": claim: expected a text or null '", key, "'");
  const Json& verdict = claim.at("verdict");
  DRIFTLESS_REQUIRE(verdict.is_null() || std::find(kVerdicts.begin(), kVerdicts.end(),
                                                   verdict.get<std::string>()) != kVerdicts.end(),
                    ErrorCode::BadFile, where, ": claim: verdict; got ", quote(verdict.dump()),
                    ", expected one of ", join(kVerdicts, ", "), " or null");
}

void require_eval(const Json& eval, std::string_view where) {
  DRIFTLESS_REQUIRE(eval.contains("model") && eval.at("model").is_string(), ErrorCode::BadFile,
                    where, ": evaluation: expected a text 'model'");
  if (eval.contains("pass")) return;
  for (const std::string_view key : {"share", "n", "low", "high"})
    DRIFTLESS_REQUIRE(eval.contains("exact") && eval.at("exact").is_object() &&
                          eval.at("exact").contains(key) && eval.at("exact").at(key).is_number(),
                      ErrorCode::BadFile, where, ": evaluation: expected a number 'exact.", key,
                      "'");
}

void require_log(const Json& line, std::string_view where) {
  DRIFTLESS_REQUIRE(line.at("kind").is_string(), ErrorCode::BadFile, where,
                    ": log: expected a text 'kind'");
  if (line.at("kind") != "eval") return;
  for (const std::string_view key : {"step", "exact", "exact_low95", "exact_high95"})
    DRIFTLESS_REQUIRE(line.contains(key) && line.at(key).is_number(), ErrorCode::BadFile, where,
                      ": log: expected a number '", key, "'");
}

void add_file(const std::filesystem::path& path, const Checks& checks, Results& results) {
  add_text(read_text(path), path.filename().string(), checks, results);
}

void add_text(std::string_view text, const std::string& name, const Checks& checks,
              Results& results) {
  results.files.push_back(name);
  const auto add = [&](std::string_view line, const std::string& where) {
    try {
      add_line(line, where, checks, results);
    } catch (const Error& error) {
      results.skipped.push_back({.where = where, .reason = error.what()});
    }
  };
  if (is_one_object(text)) {
    add(text, name);
    return;
  }
  int64_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (!trimmed(line).empty()) add(line, name + ":" + std::to_string(number));
  }
}

}  // namespace driftless::report
