// SPDX-License-Identifier: Apache-2.0
#include "driftless/report/results.h"

#include <algorithm>
#include <array>

#include "driftless/base/error.h"
#include "driftless/base/file.h"
#include "driftless/base/json.h"
#include "driftless/base/quote.h"
#include "driftless/base/text.h"

namespace driftless::report {
namespace {

constexpr std::array<std::string_view, 4> kClaimTexts = {"claim", "source", "theirs", "reason"};
constexpr std::array<std::string_view, 3> kVerdicts = {"holds", "in part", "fails"};

void add_line(std::string_view text, const std::string& where, const Checks& checks,
              Results& results) {
  Json line = parse_json(text, where);
  DRIFTLESS_REQUIRE(line.is_object(), ErrorCode::BadFile, where, ": expected an object");
  if (line.contains("schema")) {
    checks.record(line, where);
    results.records.push_back(std::move(line));
  } else if (line.contains("trace")) {
    checks.trace(line, where);
    results.traces.push_back(std::move(line));
  } else if (line.contains("claim")) {
    require_claim(line, where);
    results.claims.push_back(std::move(line));
  } else {
    fail(ErrorCode::BadFile, where, ": neither a record, a trace nor a claim");
  }
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

void add_file(const std::filesystem::path& path, const Checks& checks, Results& results) {
  const std::vector<std::byte> bytes = read_file(path);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string name = path.filename().string();
  results.files.push_back(name);
  int64_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string where = name + ":" + std::to_string(number);
    try {
      add_line(line, where, checks, results);
    } catch (const Error& error) {
      results.skipped.push_back({.where = where, .reason = error.what()});
    }
  }
}

}  // namespace driftless::report
