// SPDX-License-Identifier: Apache-2.0
#include "driftless/vectors/stream.h"

#include <utility>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"

namespace driftless::vectors {
namespace {

constexpr std::string_view kOpening = "driftless-vectors 1";
constexpr std::string_view kEnd = "end ";
constexpr std::string_view kEquals = " = ";
constexpr size_t kMostDifferences = 10;

std::string end_line(int64_t cases, const Sha256& hash) {
  return std::string(kEnd) + std::to_string(cases) + " " + hash.hex();
}

void add_line(Sha256& hash, std::string_view line) {
  hash.add(std::as_bytes(std::span(line)));
  hash.add(std::as_bytes(std::span("\n", 1)));
}

}  // namespace

void generate(std::span<const Kind* const> kinds, const Amount& amount, uint64_t seed,
              const Engine& engine, const LineSink& sink) {
  Sha256 hash;
  const auto put = [&](const std::string& line) {
    add_line(hash, line);
    sink(line);
  };
  put(std::string(kOpening));
  int64_t cases = 0;
  for (const Kind* const kind : kinds) {
    Rng rng(seed);  // the cases of a kind do not depend on the kinds before it
    kind->make(amount, engine, rng, [&](const std::string& fields) {
      const std::vector<std::string_view> parts = split(fields, ' ');
      put(std::string(kind->name) + " " + fields + std::string(kEquals) +
          kind->answer(parts, engine));
      ++cases;
    });
  }
  sink(end_line(cases, hash));
}

void Verifier::take(std::string_view line) {
  ++line_;
  try {
    DRIFTLESS_REQUIRE(end_.empty(), ErrorCode::BadFile, "got more after the end");
    DRIFTLESS_REQUIRE(line.size() <= kLongestLine, ErrorCode::BadFile, "got ", line.size(),
                      " characters, expected at most ", kLongestLine);
    if (line_ == 1)
      DRIFTLESS_REQUIRE(line == kOpening, ErrorCode::BadFile, "got '", line.substr(0, 40),
                        "', expected '", kOpening, "'");
    if (line.starts_with(kEnd)) return take_end(line);
    add_line(hash_, line);
    if (line_ > 1 && !line.starts_with('#')) take_case(line);
  } catch (const Error& error) {
    fail(error.code() == ErrorCode::Internal ? error.code() : ErrorCode::BadFile, "vectors: line ",
         line_, ": ", error.what());
  }
}

void Verifier::take_case(std::string_view line) {
  const size_t equals = line.find(kEquals);
  DRIFTLESS_REQUIRE(equals != line.npos, ErrorCode::BadFile, "no case; got '", line.substr(0, 40),
                    "', expected 'KIND FIELD... = ANSWER...'");
  std::vector<std::string_view> fields = split(line.substr(0, equals), ' ');
  const Kind& kind = kind_by_name(fields.front());
  fields.erase(fields.begin());
  DRIFTLESS_REQUIRE(fields.size() == kind.field_count, ErrorCode::BadFile, kind.name, "; got ",
                    fields.size(), " fields, expected ", kind.field_count);
  const std::string_view got = line.substr(equals + kEquals.size());
  std::string expected = kind.answer(fields, engine_);
  ++cases_;
  if (got == expected) return;
  ++different_;
  if (differences_.size() < kMostDifferences)
    differences_.push_back({line_, std::string(kind.name), std::string(got), std::move(expected)});
}

void Verifier::take_end(std::string_view line) {
  end_ = line;
  found_end_ = end_line(cases_, hash_);
}

void Verifier::finish() const {
  DRIFTLESS_REQUIRE(!end_.empty(), ErrorCode::BadFile, "vectors: cut off after line ", line_,
                    "; expected a last line '", kEnd, "COUNT SHA256'");
  const auto count_of = [](const std::string& end) { return end.substr(0, end.rfind(' ')); };
  DRIFTLESS_REQUIRE(count_of(end_) == count_of(found_end_), ErrorCode::BadFile,
                    "vectors: lines are missing; got '", end_, "', expected '", found_end_, "'");
  DRIFTLESS_REQUIRE(different_ > 0 || end_ == found_end_, ErrorCode::BadFile,
                    "vectors: damaged; got '", end_, "', expected '", found_end_, "'");
}

}  // namespace driftless::vectors
