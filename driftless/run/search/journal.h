// SPDX-License-Identifier: Apache-2.0
// What a search has tried, on disk, so that one that was ended goes on: a line of JSON that says
// whose it is, then a line for each change in the order in which they were tried:
//
//   {"driftless_search":2,"version":"1.0.0","model":"SHA-256","bits":4.25,...}
//   {"change":"mxint4","errors":[0.25,...]}
//   {"change":"gptq","skipped":"why"}
//
// The file is written anew with every line, whole or not at all.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "driftless/run/search/judge.h"
#include "driftless/study/record/fields.h"

namespace driftless::run {

class Journal {
 public:
  struct Entry {
    std::string change{};
    Judged judged{};
  };

  /// Reads what is there; without a path nothing is kept. Throws Io, and BadFile where the file is
  /// no journal or that of another search: `owner` says of which.
  Journal(std::filesystem::path path, const study::Json& owner);

  /// What the next change came to where an earlier run tried it. Throws BadFile where that tried
  /// another one.
  std::optional<Judged> next(const std::string& change);

  /// Writes down a change that next() does not know. Throws Io.
  void add(const std::string& change, const Judged& judged);

 private:
  void read(const study::Json& owner);

  std::filesystem::path path_;
  std::string text_;
  std::vector<Entry> entries_;
  size_t next_ = 0;
};

/// Where the search for `out` keeps it: beside it, or nowhere where `out` is a device or pipe.
std::filesystem::path journal_of(const std::filesystem::path& out);

}  // namespace driftless::run
