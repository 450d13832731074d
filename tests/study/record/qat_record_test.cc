// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/record/qat_record.h"

#include <gtest/gtest.h>

#include "driftless/base/error.h"

#include "tests/testing/expect_error.h"

namespace driftless::study {
namespace {

Json score(double share) {
  return {{"exact", {{"share", share}, {"hits", 1}, {"n", 64}, {"low", 0.0}, {"high", 0.9}}},
          {"cells", {{"mean", 0.5}, {"n", 64}, {"low", nullptr}, {"high", nullptr}}}};
}

Json qat_record() {
  return {{"qat", 1},
          {"method", "naive"},
          {"weights", "mxint3"},
          {"acts", "mxint3"},
          {"coverage", "linear"},
          {"checkpoint", {{"file", "a.safetensors"}, {"sha256", "00"}}},
          {"data", "boards.csv"},
          {"seed", 1},
          {"steps", 1000},
          {"n", 64},
          {"before", score(0.25)},
          {"after", score(0.75)},
          {"float_exact", nullptr},
          {"theirs", {{"before", nullptr}, {"after", 0.718}}},
          {"command", "driftless qat"}};
}

TEST(QatRecord, AcceptsOneWithAndWithoutFloat) {
  Json record = qat_record();
  require_qat_record(record, "r");
  record["float_exact"] = score(0.8).at("exact");
  record["float_exact"]["n"] = 9974;  // may have been measured on more boards
  require_qat_record(record, "r");
}

TEST(QatRecord, RefusesWhatIsNotOne) {
  struct Case {
    const char* pointer;
    Json value;
    const char* word;
  };
  for (const Case& bad :
       {Case{"/qat", 2, "qat; got 2, expected 1"}, Case{"/steps", "many", "'steps'"},
        Case{"/checkpoint/sha256", 3, "'sha256'"}, Case{"/theirs/after", "most", "'after'"},
        Case{"/after/exact/share", 0.95, "after.exact; got 0.95"},
        Case{"/before/exact/low", -0.1, "within its interval"},
        Case{"/before/cells/n", 63, "before.cells.n; got 63"},
        Case{"/float_exact", 0.85, "'float_exact'"}, Case{"/sead", 1, "did you mean 'seed'"}}) {
    Json record = qat_record();
    record[Json::json_pointer(bad.pointer)] = bad.value;
    EXPECT_ERROR(require_qat_record(record, "r"), ErrorCode::BadFile, bad.word);
  }
  Json record = qat_record();
  record.erase("command");
  EXPECT_ERROR(require_qat_record(record, "r"), ErrorCode::BadFile, "r: no key 'command'");
}

}  // namespace
}  // namespace driftless::study
