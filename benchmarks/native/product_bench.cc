// SPDX-License-Identifier: Apache-2.0
// Native products beside the measured limit of the instructions they are made of, and beside oneDNN
// in float32 where it is built in. Every answer is checked against the scalar kernels first. Rounds
// of all contenders alternate and the best of each counts, so that a busy machine shows little.
// Exits with 1 when an answer is wrong or a product with whole sums falls below the floor: the
// sign of a compiler that keeps the sums of a tile in memory. The floor is judged by rounds in
// which the peaks just before and after the product agree; where there is none, it is not judged.
//
//   product_bench [rounds]      DRIFTLESS_ISA and DNNL_MAX_CPU_ISA choose the kernels
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "driftless/base/machine.h"
#include "driftless/integer/product.h"

#include "benchmarks/native/contender.h"
#include "benchmarks/native/float_product.h"

namespace driftless::native {

using namespace integer;
namespace {

struct Shape {
  const char* name;
  int64_t n, k, m;
  bool has_floor;  // Long enough that the epilogue hardly counts.
};
constexpr Shape kShapes[] = {
    {"D512 gate_up", 3072, 512, 97, true},   {"D512 down", 512, 1536, 97, true},
    {"D256 gate_up", 1536, 256, 81, false},  {"D256 down", 256, 768, 81, true},
    {"D256 tokens up", 256, 81, 512, false}, {"D256 tokens down", 256, 256, 81, false},
    {"D512 tokens up", 512, 97, 512, false}, {"D512 tokens down", 512, 256, 97, false},
};

struct Scheme {
  const char* left;
  const char* right;
  bool is_whole;
};
constexpr Scheme kSchemes[] = {
    {"mxint4,window=4", "mxint4,window=4", true},
    {"int8/token", "int8/channel", true},
    {"mxint4,window=7", "mxint4,window=7", false},
    {"mxint8,window=3", "mxint8,window=3", false},
};

/// Of the instructions' peak, for each plane of digits. Spilled sums cost a third and more.
constexpr double kFloor = 0.75;
/// Where the multiplier is so fast that the way to it and back takes as long.
constexpr double kFloorApart = 0.25;

/// The share of the peak in the best of the calm moments: those with a peak on either side that is
/// neither far from the other nor from the best one.
class CalmShare {
 public:
  void add(double peak_before_s, double product_s, double peak_after_s) {
    best_peak_s_ = std::min({best_peak_s_, peak_before_s, peak_after_s});
    moments_.push_back({peak_before_s, product_s, peak_after_s});
  }
  /// Operations of the product over those of the peak; nothing where no moment was calm.
  [[nodiscard]] std::optional<double> best(double operations_ratio) const {
    constexpr double kAgreement = 1.05;
    std::optional<double> best;
    for (const Moment& moment : moments_) {
      const double slower = std::max(moment.before_s, moment.after_s);
      if (slower > kAgreement * best_peak_s_) continue;
      const double share = operations_ratio * best_peak_s_ / moment.product_s;
      if (!best || share > *best) best = share;
    }
    return best;
  }

 private:
  struct Moment {
    double before_s, product_s, after_s;
  };
  std::vector<Moment> moments_;
  double best_peak_s_ = 1e9;
};

class Bench {
 public:
  Bench(const KernelSet& set, int64_t rounds) : set_(set), rounds_(rounds) {}

  /// Returns whether answers are right and the floor holds.
  bool run() {
    std::printf("%s, kernels %s, float32: %s, best of %lld rounds\n", processor_name().c_str(),
                std::string(set_.name).c_str(), has_float_product() ? "oneDNN" : "none",
                static_cast<long long>(rounds_));
    std::printf("%-36s %-18s %9s %8s %8s %8s\n", "product", "N x K * M", "GOP/s", "of peak",
                "2 thr. x", "float x");
    bool is_good = true;
    for (const Scheme& scheme : kSchemes) {
      for (const Shape& shape : kShapes) is_good = run_one(scheme, shape) && is_good;
    }
    return is_good;
  }

 private:
  bool is_right(const quant::QuantizedMatrix& left, const quant::QuantizedMatrix& right) {
    std::vector<int32_t> got(static_cast<size_t>(left.rows * right.rows));
    std::vector<int32_t> expected(got.size());
    multiply_exact(make_rows(left, set_), make_panels(right, set_),
                   {got.data(), left.rows, right.rows}, two_);
    multiply_exact(make_rows(left, kScalarKernels), make_panels(right, kScalarKernels),
                   {expected.data(), left.rows, right.rows}, one_);
    return got == expected;
  }

  bool run_one(const Scheme& scheme, const Shape& shape) {
    const auto left = random_matrix(scheme.left, shape.m, shape.k, 1);
    const auto right = random_matrix(scheme.right, shape.n, shape.k, 2);
    const std::string title = std::string(shape.name) + " " + scheme.left;
    if (!is_right(left, right)) {
      std::printf("%-36s WRONG: differs from the scalar kernels\n", title.c_str());
      return false;
    }
    const RowMatrix rows = make_rows(left, set_);
    const PanelMatrix panels = make_panels(right, set_);
    AlignedVector<float> out(static_cast<size_t>(shape.m * shape.n));
    const quant::Mat view{out.data(), shape.m, shape.n};
    const double operations = 2.0 * static_cast<double>(shape.m * shape.n * shape.k);

    constexpr int64_t kPeakRounds = 4000;
    Contender peak{[&] { (void)set_.peak(kPeakRounds); },
                   2.0 * static_cast<double>(set_.peak(kPeakRounds))};
    Contender single{[&] { multiply(rows, panels, view, one_); }, operations};
    Contender twofold{[&] { multiply(rows, panels, view, two_); }, operations};
    FloatProduct float_product({shape.m, shape.k, shape.n});
    Contender floats{[&] { float_product.run(); }, operations};
    CalmShare calm_share;
    for (int64_t round = 0; round < rounds_; ++round) {
      peak.run();
      single.run();
      const double before_s = seconds_of(peak.work);
      const double product_s = seconds_of(single.work);
      calm_share.add(before_s, product_s, seconds_of(peak.work));
      twofold.run();
      if (has_float_product()) floats.run();
    }
    const double share = single.gops() / peak.gops();
    const std::string dims =
        std::to_string(shape.n) + " x " + std::to_string(shape.k) + " * " + std::to_string(shape.m);
    std::printf("%-36s %-18s %9.1f %7.1f%% %8.2f %8.2f\n", title.c_str(), dims.c_str(),
                single.gops(), 100 * share, twofold.gops() / single.gops(),
                has_float_product() ? single.gops() / floats.gops() : 0.0);
    const bool is_apart = set_.begin != nullptr;  // multiplies beside the vectors
    const double floor = (is_apart ? kFloorApart : kFloor) / static_cast<double>(panels.planes);
    if (!scheme.is_whole || !shape.has_floor) return true;
    const auto judged = calm_share.best(operations / peak.operations);
    if (!judged) std::printf("%-36s floor not judged: no calm moment\n", title.c_str());
    if (!judged || *judged >= floor) return true;
    std::printf("%-36s TOO SLOW: %.0f%% of the peak, below %.0f%%; are the sums spilled?\n",
                title.c_str(), 100 * *judged, 100 * floor);
    return false;
  }

  const KernelSet& set_;
  int64_t rounds_;
  ThreadPool one_{1};
  ThreadPool two_{2};
};

}  // namespace
}  // namespace driftless::native

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 300;
  if (rounds < 1) {
    std::fprintf(stderr, "product_bench: rounds; expected a number of at least 1\n");
    return 2;
  }
  return driftless::native::Bench(driftless::integer::kernels(), rounds).run() ? 0 : 1;
}
