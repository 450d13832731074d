// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/search/journal.h"

#include <utility>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/json.h"
#include "driftless/base/text/text.h"

namespace driftless::run {
namespace {

using study::Json;

constexpr const char* kAfresh = "; to start afresh, name another --out or remove the file";

void require_owner(const Json& found, const Json& owner, const std::string& where) {
  DRIFTLESS_REQUIRE(found.is_object() && found.contains("driftless_search"), ErrorCode::BadFile,
                    where, ": not the journal of a search", kAfresh);
  for (const auto& [key, value] : owner.items()) {
    const Json got = found.value(key, Json());
    DRIFTLESS_REQUIRE(got == value, ErrorCode::BadFile, where, ": the journal of another search; ",
                      key, ": got ", got.dump(), ", expected ", value.dump(), kAfresh);
  }
}

Journal::Entry entry_of(const Json& line, const std::string& where) {
  Journal::Entry entry;
  try {
    entry.change = line.at("change").get<std::string>();
    if (line.contains("skipped"))
      entry.judged.skipped = line.at("skipped").get<std::string>();
    else
      entry.judged.errors = line.at("errors").get<std::vector<double>>();
  } catch (const Json::exception&) {
    fail(ErrorCode::BadFile, where, ": expected a change with errors, one a board, or skipped",
         kAfresh);
  }
  DRIFTLESS_REQUIRE(entry.judged.skipped.empty() != entry.judged.errors.empty(), ErrorCode::BadFile,
                    where, ": got neither errors nor why there are none", kAfresh);
  return entry;
}

std::string line_of(const std::string& change, const Judged& judged) {
  Json line = {{"change", change}};
  if (judged.skipped.empty())
    line["errors"] = judged.errors;
  else
    line["skipped"] = judged.skipped;
  return line.dump() + "\n";
}

}  // namespace

Journal::Journal(std::filesystem::path path, const Json& owner) : path_(std::move(path)) {
  text_ = owner.dump() + "\n";
  if (!path_.empty() && std::filesystem::exists(path_)) read(owner);
}

void Journal::read(const Json& owner) {
  const std::string contents = read_text(path_);
  int64_t number = 0;
  for (const std::string_view text : split(contents, '\n')) {
    if (text.empty()) continue;
    const std::string where = path_.string() + ":" + std::to_string(++number);
    const Json line = Json(parse_json(text, where));
    if (number == 1) {
      require_owner(line, owner, where);
      continue;
    }
    entries_.push_back(entry_of(line, where));
    text_ += line_of(entries_.back().change, entries_.back().judged);
  }
  DRIFTLESS_REQUIRE(number > 0, ErrorCode::BadFile, path_.string(), ": empty; expected a journal",
                    kAfresh);
}

std::optional<Judged> Journal::next(const std::string& change) {
  if (next_ == entries_.size()) return std::nullopt;
  const Entry& entry = entries_[next_++];
  DRIFTLESS_REQUIRE(entry.change == change, ErrorCode::BadFile, path_.string(), ": change ", next_,
                    "; got '", entry.change, "', expected '", change, "'", kAfresh);
  return entry.judged;
}

void Journal::add(const std::string& change, const Judged& judged) {
  entries_.push_back({change, judged});
  next_ = entries_.size();
  text_ += line_of(change, judged);
  if (!path_.empty()) write_file_atomic(path_, text_);
}

std::filesystem::path journal_of(const std::filesystem::path& out) {
  std::error_code ignored;
  if (std::filesystem::exists(out, ignored) && !std::filesystem::is_regular_file(out, ignored))
    return {};
  return out.string() + ".search.jsonl";
}

}  // namespace driftless::run
