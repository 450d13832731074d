// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/record/qat_record.h"

#include <array>

#include "driftless/base/error.h"

namespace driftless::study {
namespace {

constexpr std::array<Field, 15> kQatFields = {{
    {"qat", Kind::Integer},
    {"method", Kind::Text},
    {"weights", Kind::Text},
    {"acts", Kind::Text},
    {"coverage", Kind::Text},
    {"checkpoint", Kind::Object},
    {"data", Kind::Text},
    {"seed", Kind::Integer},
    {"steps", Kind::Integer},
    {"n", Kind::Integer},
    {"before", Kind::Object},
    {"after", Kind::Object},
    {"float_exact", Kind::Object, Gap::Null},
    {"theirs", Kind::Object},
    {"command", Kind::Text},
}};
constexpr std::array<Field, 2> kQatFileFields = {{{"file", Kind::Text}, {"sha256", Kind::Text}}};
constexpr std::array<Field, 2> kScoreFields = {{{"exact", Kind::Object}, {"cells", Kind::Object}}};
constexpr std::array<Field, 5> kQatShareFields = {{{"share", Kind::Number},
                                                   {"hits", Kind::Integer},
                                                   {"n", Kind::Integer},
                                                   {"low", Kind::Number},
                                                   {"high", Kind::Number}}};
constexpr std::array<Field, 4> kCellsFields = {{{"mean", Kind::Number},
                                                {"n", Kind::Integer},
                                                {"low", Kind::Number, Gap::Null},
                                                {"high", Kind::Number, Gap::Null}}};
constexpr std::array<Field, 2> kTheirsFields = {
    {{"before", Kind::Number, Gap::Null}, {"after", Kind::Number, Gap::Null}}};

void require_share(const Json& share, const std::string& where) {
  require_fields(share, kQatShareFields, where);
  const double value = share.at("share");
  DRIFTLESS_REQUIRE(0 <= share.at("low") && share.at("low") <= value && value <= share.at("high") &&
                        share.at("high") <= 1,
                    ErrorCode::BadFile, where, "; got ", value, " in ", share.at("low").dump(),
                    " to ", share.at("high").dump(), ", expected a share within its interval");
}

void require_score(const Json& score, int64_t n, const std::string& where) {
  require_fields(score, kScoreFields, where);
  require_share(score.at("exact"), where + ".exact");
  require_fields(score.at("cells"), kCellsFields, where + ".cells");
  for (const char* const key : {"exact", "cells"})
    DRIFTLESS_REQUIRE(score.at(key).at("n") == n, ErrorCode::BadFile, where, ".", key, ".n; got ",
                      score.at(key).at("n").dump(), ", expected the record's n, ", n);
}

}  // namespace

void require_qat_record(const Json& record, std::string_view where) {
  const std::string at(where);
  require_fields(record, kQatFields, at);
  DRIFTLESS_REQUIRE(record.at("qat") == kQatSchema, ErrorCode::BadFile, at, ": qat; got ",
                    record.at("qat").dump(), ", expected ", kQatSchema);
  require_fields(record.at("checkpoint"), kQatFileFields, at + ": checkpoint");
  require_fields(record.at("theirs"), kTheirsFields, at + ": theirs");
  for (const char* const key : {"before", "after"})
    require_score(record.at(key), record.at("n"), at + ": " + key);
  if (!record.at("float_exact").is_null())
    require_share(record.at("float_exact"), at + ": float_exact");
}

}  // namespace driftless::study
