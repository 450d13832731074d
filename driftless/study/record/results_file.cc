// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/record/results_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/json.h"
#include "driftless/base/text/text.h"

namespace driftless::study {
namespace {

[[noreturn]] void fail_io(const std::filesystem::path& path, const char* what) {
  const int reason = errno;
  fail(ErrorCode::Io, path.string(), ": ", what, "; got ", std::strerror(reason));
}

constexpr const char* kAfresh = "; to start afresh, name another --out or remove the file";

/// How every record starts, in all versions.
std::string record_start() {
  return "{\"schema\":" + std::to_string(kRecordSchema) + ",\"study\":";
}

void require_origin(const Json& record, const Origin& origin, const std::string& where) {
  const auto require = [&](const char* what, const std::string& got, const std::string& expected) {
    DRIFTLESS_REQUIRE(got == expected, ErrorCode::BadFile, where, ": a result of another ", what,
                      "; got ", got, ", expected ", expected, kAfresh);
  };
  require("version of driftless", record.at("version"), origin.version);
  require("checkpoint", record.at("checkpoint").at("sha256"), origin.model_sha256);
}

}  // namespace

ResultsFile::ResultsFile(const std::filesystem::path& path, const Origin& origin) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_io(path, "cannot open for writing");
  try {
    DRIFTLESS_REQUIRE(::flock(descriptor_, LOCK_EX | LOCK_NB) == 0, ErrorCode::Io, path.string(),
                      ": another process is writing results here; name another --out");
    read_lines(origin);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

ResultsFile::~ResultsFile() { ::close(descriptor_); }

void ResultsFile::read_lines(const Origin& origin) {
  const std::string contents = read_text(path_);
  const std::string_view text = contents;
  const size_t whole = text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1;
  int64_t number = 0;
  for (const std::string_view line : split(text.substr(0, whole), '\n')) {
    ++number;
    if (line.empty()) continue;
    const std::string where = path_.string() + ":" + std::to_string(number);
    const Json record = Json(parse_json(line, where));
    require_record(record, where);
    require_origin(record, origin, where);
    records_.push_back(record);
  }
  const std::string_view rest = text.substr(whole);
  const std::string start = record_start();
  DRIFTLESS_REQUIRE(
      rest.empty() || rest.starts_with(start) || (!records_.empty() && start.starts_with(rest)),
      ErrorCode::BadFile, path_.string(), ":", number,
      ": an unfinished line that is no record; expected a results file", kAfresh);
  if (!rest.empty() && ::ftruncate(descriptor_, static_cast<off_t>(whole)) != 0)
    fail_io(path_, "cannot remove an unfinished line");
}

const Json* ResultsFile::find(const Json& key) const {
  const auto matches = [&](const Json& record) {
    return std::all_of(key.items().begin(), key.items().end(), [&](const auto& item) {
      // Compared without regard to the order of keys.
      return nlohmann::json(record.at(item.key())) == nlohmann::json(item.value());
    });
  };
  const auto found = std::find_if(records_.begin(), records_.end(), matches);
  return found == records_.end() ? nullptr : &*found;
}

void ResultsFile::require_in_place() const {
  struct stat ours {};
  struct stat named {};
  const bool is_there = ::fstat(descriptor_, &ours) == 0 && ::stat(path_.c_str(), &named) == 0 &&
                        ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
  DRIFTLESS_REQUIRE(is_there, ErrorCode::Io, path_.string(),
                    ": cannot append a record; the file was removed or replaced during the run");
}

void ResultsFile::append(const Json& record) {
  require_record(record, path_.string());
  require_in_place();
  const std::string line = record.dump() + "\n";
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  const ssize_t written = ::write(descriptor_, line.data(), line.size());
  if (end < 0 || written != std::ssize(line) || ::fsync(descriptor_) != 0) {
    if (written >= 0 && written != std::ssize(line)) errno = ENOSPC;
    const int reason = errno;
    // A record must not stay behind in part; there is nothing more to do if this fails too.
    if (end >= 0) static_cast<void>(!::ftruncate(descriptor_, end));
    errno = reason;
    fail_io(path_, "cannot append a record");
  }
  records_.push_back(record);
}

}  // namespace driftless::study
