// SPDX-License-Identifier: Apache-2.0
// Records of a study as JSON Lines on disk. A record is appended whole and flushed before the next
// row starts, so a killed study loses at most the rows it was working on; a line that a crash left
// unfinished is removed when the file is opened again. A file that is not ours is never touched.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "driftless/study/record/record.h"

namespace driftless::study {

class ResultsFile {
 public:
  /// Opens or creates the file and locks it against other processes. Throws Io; BadFile where a
  /// line is no record, or one of another version or checkpoint, or an unfinished line is not the
  /// start of a record: the message says how to start afresh.
  ResultsFile(const std::filesystem::path& path, const Origin& origin);
  ~ResultsFile();
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  [[nodiscard]] const std::vector<Json>& records() const { return records_; }
  /// The record with that key (see record_key), or null. Valid until the next append.
  [[nodiscard]] const Json* find(const Json& key) const;

  /// Throws what require_record throws, or Io (a full disk, or another file under the name by now);
  /// the file then holds what it held before.
  void append(const Json& record);

 private:
  void read_lines(const Origin& origin);
  void require_in_place() const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::vector<Json> records_;
};

}  // namespace driftless::study
