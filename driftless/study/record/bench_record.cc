// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/record/bench_record.h"

#include <array>

namespace driftless::study {
namespace {

constexpr std::array<Field, 9> kBenchFields = {{
    {"model", Kind::Text},
    {"processor", Kind::Text},
    {"native_kernels", Kind::Text},
    {"threads", Kind::Integer},
    {"rounds", Kind::Integer},
    {"calm", Kind::Object},
    {"peaks", Kind::Array},
    {"gemm", Kind::Array},
    {"step", Kind::Array},
}};
constexpr std::array<Field, 1> kCalmFields = {{{"is_calm", Kind::Bool}}};
constexpr std::array<Field, 4> kPeakFields = {{{"kernel", Kind::Text},
                                               {"threads", Kind::Integer},
                                               {"gflops", Kind::Number},
                                               {"share_of_int8_peak", Kind::Number}}};
constexpr std::array<Field, 6> kGemmFields = {{{"kernel", Kind::Text},
                                               {"name", Kind::Text},
                                               {"threads", Kind::Integer},
                                               {"gflops", Kind::Number},
                                               {"share_of_int8_peak", Kind::Number},
                                               {"ratio_to_f32", Kind::Number, Gap::Null}}};
constexpr std::array<Field, 7> kStepFields = {{{"path", Kind::Text},
                                               {"d", Kind::Integer},
                                               {"batch", Kind::Integer},
                                               {"threads", Kind::Integer},
                                               {"gflops", Kind::Number},
                                               {"share_of_int8_peak", Kind::Number},
                                               {"ratio_to_f32", Kind::Number}}};

struct List {
  const char* name;
  std::span<const Field> fields;
};
constexpr std::array<List, 3> kLists = {
    {{"peaks", kPeakFields}, {"gemm", kGemmFields}, {"step", kStepFields}}};

}  // namespace

void require_bench_record(const Json& bench, std::string_view where) {
  const std::string at(where);
  require_fields(bench, kBenchFields, at, Unknown::Ignored);
  require_fields(bench.at("calm"), kCalmFields, at + ": calm", Unknown::Ignored);
  for (const List& list : kLists) {
    const Json& rows = bench.at(list.name);
    for (size_t i = 0; i < rows.size(); ++i)
      require_fields(rows[i], list.fields, at + ": " + list.name + "[" + std::to_string(i) + "]",
                     Unknown::Ignored);
  }
}

}  // namespace driftless::study
