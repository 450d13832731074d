// SPDX-License-Identifier: Apache-2.0
// A stream of cases: "driftless-vectors 1", one case a line, and "end COUNT SHA256", the hash of
// all lines before it with their line ends. Lines that begin with # are remarks. Who has other
// answers than ours and keeps our last line has another hash; who answers the cases anew and hashes
// its own lines gets told which ones differ.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/base/sha256.h"
#include "driftless/vectors/kinds.h"

namespace driftless::vectors {

/// Takes a line without its end.
using LineSink = std::function<void(const std::string& line)>;

/// Makes cases of the kinds, in their order, with the answers of `engine`.
void generate(std::span<const Kind* const> kinds, const Amount& amount, uint64_t seed,
              const Engine& engine, const LineSink& sink);

/// A case whose answer is another one than ours.
struct Difference {
  int64_t line;
  std::string kind;
  std::string got;
  std::string expected;
};

/// Reads a stream line by line and answers each case anew.
class Verifier {
 public:
  /// A line may have so many characters.
  static constexpr size_t kLongestLine = 1 << 20;

  /// The engine must live as long.
  explicit Verifier(const Engine& engine) : engine_(engine) {}
  explicit Verifier(Engine&&) = delete;

  /// Throws BadFile, with the number of the line, for one that is no case.
  void take(std::string_view line);
  /// Throws BadFile where the stream has no end, or another count or, with no case that differs,
  /// another hash than its end says.
  void finish() const;

  [[nodiscard]] int64_t cases() const { return cases_; }
  [[nodiscard]] int64_t different() const { return different_; }
  /// The first of them.
  [[nodiscard]] std::span<const Difference> differences() const { return differences_; }

 private:
  void take_case(std::string_view line);
  void take_end(std::string_view line);

  const Engine& engine_;
  int64_t line_ = 0;
  int64_t cases_ = 0;
  int64_t different_ = 0;
  std::vector<Difference> differences_;
  Sha256 hash_;
  std::string end_;        // what the last line says; empty before it
  std::string found_end_;  // what it must say
};

}  // namespace driftless::vectors
