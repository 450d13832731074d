// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/record/bench_record.h"

#include <gtest/gtest.h>

#include "driftless/base/error.h"

#include "tests/testing/expect_error.h"

namespace driftless::study {
namespace {

Json bench_record() {
  const Json row = {{"threads", 1}, {"gflops", 100.5}, {"share_of_int8_peak", 0.5}};
  Json peak = row;
  peak["kernel"] = "vpdpbusd";
  Json gemm = peak;
  gemm["name"] = "D256 down";
  gemm["ratio_to_f32"] = nullptr;  // a build without oneDNN
  Json step = row;
  step.update({{"path", "f32"}, {"d", 256}, {"batch", 8}, {"ratio_to_f32", 1.0}});
  return {{"model", "a.safetensors"},
          {"processor", "some"},
          {"native_kernels", "avx512"},
          {"threads", 1},
          {"rounds", 3},
          {"calm", {{"is_calm", false}}},
          {"peaks", {peak}},
          {"gemm", {gemm}},
          {"step", {step}}};
}

TEST(BenchRecord, AcceptsOneWithMoreInIt) {
  Json record = bench_record();
  require_bench_record(record, "b");
  record["energy_exposed"] = false;
  record["step"][0]["boards_per_s_fixed"] = 3.0;
  require_bench_record(record, "b");
  record["gemm"] = Json::array();
  require_bench_record(record, "b");
}

TEST(BenchRecord, RefusesWhatIsNotOne) {
  struct Case {
    const char* pointer;
    Json value;
    const char* word;
  };
  for (const Case& bad :
       {Case{"/peaks", 3, "'peaks'"}, Case{"/peaks/0/gflops", "fast", "b: peaks[0]: 'gflops'"},
        Case{"/gemm/0/threads", 1.5, "gemm[0]: 'threads'"},
        Case{"/step/0/ratio_to_f32", nullptr, "step[0]"},
        Case{"/step/0", 1, "step[0]: expected an object"}, Case{"/calm/is_calm", 1, "'is_calm'"}}) {
    Json record = bench_record();
    record[Json::json_pointer(bad.pointer)] = bad.value;
    EXPECT_ERROR(require_bench_record(record, "b"), ErrorCode::BadFile, bad.word);
  }
}

}  // namespace
}  // namespace driftless::study
