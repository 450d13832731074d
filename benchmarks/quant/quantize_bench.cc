// SPDX-License-Identifier: Apache-2.0
// Fake quantization and packing, one core, on matrices that fit the second-level cache. Every
// result is first checked against the scalar kernels; the closing table gives each rate as a
// multiple of the scalar kernels and of memcpy of the same bytes in the same run.
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "driftless/base/rng.h"
#include "driftless/quant/quantizer.h"

namespace driftless::quant {
namespace {

constexpr int64_t kRows = 128;
constexpr int64_t kCols = 512;
constexpr int64_t kSize = kRows * kCols;  // 256 KiB in and as much out.

constexpr const char* kSpecs[] = {"mxint4",          "mxfp4",          "int4/group32", "int8/token",
                                  "mxint4,rule=mse", "mxfp4,rule=mse", "mxint8",       "mxfp8_e4m3",
                                  "int4/tensor",     "uint4/group32",  "nvfp4"};

std::vector<float> gaussian_matrix() {
  Rng rng(1);
  std::vector<float> values(kSize);
  for (float& x : values) x = static_cast<float>(rng.gaussian());
  return values;
}

const std::vector<float>& input() {
  static const std::vector<float> values = gaussian_matrix();
  return values;
}

Quantizer quantizer_for(const std::string& spec, const KernelSet& set) {
  Quantizer quantizer(parse_quant_spec(spec));
  quantizer.use_kernels(set);
  return quantizer;
}

std::vector<float> run_once(const Quantizer& quantizer) {
  std::vector<float> out(kSize);
  quantizer.fake_quantize({input().data(), kRows, kCols}, {out.data(), kRows, kCols});
  return out;
}

void fake_quantize(benchmark::State& state, const std::string& spec, const KernelSet& set) {
  const Quantizer quantizer = quantizer_for(spec, set);
  std::vector<float> out = run_once(quantizer);
  const auto expected = run_once(quantizer_for(spec, kScalarKernels));
  if (std::memcmp(out.data(), expected.data(), kSize * sizeof(float)) != 0) {
    state.SkipWithError("differs from the scalar kernels");
    return;
  }
  for (auto _ : state) {
    quantizer.fake_quantize({input().data(), kRows, kCols}, {out.data(), kRows, kCols});
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kSize);
}

void copy(benchmark::State& state) {
  std::vector<float> out(kSize);
  for (auto _ : state) {
    std::memcpy(out.data(), input().data(), kSize * sizeof(float));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kSize);
}

void pack4(benchmark::State& state, const KernelSet& set) {
  std::vector<uint8_t> codes(kSize);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<uint8_t>(i * 7 % 16);
  std::vector<uint8_t> packed(kSize / 2);
  std::vector<uint8_t> expected(kSize / 2);
  set.pack4(codes.data(), kSize, packed.data());
  kScalarKernels.pack4(codes.data(), kSize, expected.data());
  if (packed != expected) {
    state.SkipWithError("differs from the scalar kernels");
    return;
  }
  for (auto _ : state) {
    set.pack4(codes.data(), kSize, packed.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kSize);
}

/// Prints as usual and remembers the best rate of each benchmark.
class RateReporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      const auto rate = run.counters.find("items_per_second");
      if (run.error_occurred) failed_ = true;
      if (run.run_type != Run::RT_Iteration || rate == run.counters.end()) continue;
      double& best = rates_[run.run_name.function_name];
      best = std::max(best, rate->second.value);
    }
    ConsoleReporter::ReportRuns(runs);
  }

  void print_ratios() const {
    std::printf("\n%-28s %10s %10s %10s\n", "best of repetitions", "Gelem/s", "x scalar",
                "x memcpy");
    for (const auto& [name, rate] : rates_) {
      const size_t slash = name.rfind('@');
      if (slash == std::string::npos) continue;
      const auto scalar = rates_.find(name.substr(0, slash) + "@scalar");
      const auto memcpy_rate = rates_.find("memcpy");
      const double over_scalar = scalar == rates_.end() ? 0 : rate / scalar->second;
      const double over_memcpy = memcpy_rate == rates_.end() ? 0 : rate / memcpy_rate->second;
      std::printf("%-28s %10.3f %10.1f %10.3f\n", name.c_str(), rate / 1e9, over_scalar,
                  over_memcpy);
    }
  }

  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::map<std::string, double> rates_;
  bool failed_ = false;
};

int run(int argc, char** argv) {
  benchmark::RegisterBenchmark("memcpy", copy);
  for (const KernelSet* set : available_kernels()) {
    const std::string at = "@" + std::string(set->name);
    for (const char* spec : kSpecs) {
      benchmark::RegisterBenchmark((spec + at).c_str(), [spec, set](benchmark::State& state) {
        fake_quantize(state, spec, *set);
      });
    }
    benchmark::RegisterBenchmark(("pack4" + at).c_str(),
                                 [set](benchmark::State& state) { pack4(state, *set); });
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  RateReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.print_ratios();
  return reporter.failed() ? 1 : 0;
}

}  // namespace
}  // namespace driftless::quant

int main(int argc, char** argv) { return driftless::quant::run(argc, argv); }
