// SPDX-License-Identifier: Apache-2.0
#include "driftless/bench/gemm.h"

#include <bit>
#include <cmath>
#include <functional>

#include "driftless/base/error.h"
#include "driftless/base/rng.h"
#include "driftless/bench/peaks.h"
#include "driftless/integer/product.h"
#include "driftless/quant/quantizer.h"
#include "driftless/simulate/product/products.h"

namespace driftless::bench {
namespace {

using Values = std::vector<float>;

constexpr const char* kBaseKernel = "f32 oneDNN";
/// What the peak bounds: names of native products begin so.
constexpr const char* kNative = "native";

Values gaussian(int64_t count, uint64_t seed) {
  Rng rng(seed);
  Values values(static_cast<size_t>(count));
  for (float& x : values) x = static_cast<float>(rng.gaussian());
  return values;
}

/// Values that the type holds.
Values in_type(Values values, GemmType type) {
  for (float& x : values) {
    if (type == GemmType::BFloat16)
      x = std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0xffff0000u);
    if (type == GemmType::Int8) x = std::nearbyint(std::fmin(std::fmax(40 * x, -127.0f), 127.0f));
  }
  return values;
}

/// Peers: oneDNN's products and the native ones. Simulated: the engine's.
enum class Who : uint8_t { Peers, Simulated };

/// The contenders of one shape and number of threads; owns what they work on. The peak comes first,
/// then float32.
class Field {
 public:
  Field(const GemmShape& shape, int64_t threads, Who who) : shape_(shape), pool_(threads) {
    add(peak_contender(int8_peak(), pool_));
    add_onednn(kBaseKernel, GemmType::Float32);
    if (who == Who::Simulated) {
      add_simulated();
      return;
    }
    add_onednn("bf16 oneDNN", GemmType::BFloat16);
    add_onednn("int8 oneDNN", GemmType::Int8);
    add_native("native mxint4", "mxint4,window=4", "mxint4,window=4");
    add_native("native mxint8", "mxint8,window=3", "mxint8,window=3");
    add_native("native int8", "int8/token", "int8/channel");
  }
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  void race(int64_t rounds) {
    bench::race(contenders_, rounds);
    for (const Contender& contender : contenders_)
      if (contender.name.starts_with(kNative))
        repeat_while_outrun(contenders_[0], contender.best_gflops());
  }

  [[nodiscard]] std::vector<GemmRow> rows(const char* shape_name) const {
    const double peak = contenders_[0].best_gflops();
    std::optional<double> f32;
    std::vector<GemmRow> rows;
    for (size_t i = 1; i < contenders_.size(); ++i) {
      const Contender& contender = contenders_[i];
      const double gflops = contender.best_gflops();
      if (contender.name.starts_with(kNative)) require_below_peak(contender.name, gflops, peak);
      if (contender.name == kBaseKernel) f32 = gflops;
      rows.push_back({.kernel = contender.name,
                      .shape_name = shape_name,
                      .shape = shape_,
                      .threads = pool_.thread_count(),
                      .gflops = gflops,
                      .median_gflops = contender.median_gflops(),
                      .share_of_int8_peak = gflops / peak,
                      .ratio_to_f32 = f32 ? std::optional(gflops / *f32) : std::nullopt});
    }
    return rows;
  }

 private:
  void add(Contender contender) { contenders_.push_back(std::move(contender)); }
  void add(std::string name, std::function<void()> work) {
    const double operations = 2.0 * static_cast<double>(shape_.m * shape_.n * shape_.k);
    add(Contender{.name = std::move(name), .work = std::move(work), .operations = operations});
  }

  void add_onednn(const char* name, GemmType type) {
    const Values a = in_type(gaussian(shape_.m * shape_.k, 1), type);
    const Values b = in_type(gaussian(shape_.n * shape_.k, 2), type);
    const std::shared_ptr<OnednnGemm> gemm =
        make_onednn_gemm(type, shape_, a, b, pool_.thread_count());
    if (gemm == nullptr) return;
    gemm->run();
    require_product(name, shape_, a, b, gemm->result());
    add(name, [gemm] { gemm->run(); });
    contenders_.back().after = end_onednn_threads;
  }

  /// As the engine simulates: activations are fake-quantized in each call, then multiplied in bf16
  /// where the processor has tiles for that.
  void add_simulated() {
    struct Operands {
      quant::Quantizer quantizer;
      Values a, quantized, b, c;
      simulate::Matmul matmul;
    };
    const quant::Quantizer quantizer(quant::parse_quant_spec("mxint4,window=4"));
    Values b = gaussian(shape_.n * shape_.k, 2);
    quantizer.fake_quantize({b.data(), shape_.n, shape_.k}, {b.data(), shape_.n, shape_.k});
    const auto dtype =
        simulate::has_fast_bf16() ? simulate::Dtype::BFloat16 : simulate::Dtype::Float32;
    std::unique_ptr<simulate::Matmul> matmul;
    try {
      matmul = std::make_unique<simulate::Matmul>(
          dtype,
          simulate::MatmulShape{.m = shape_.m,
                                .k = shape_.k,
                                .n = shape_.n,
                                .a = {.row = shape_.k},
                                .b = simulate::transposed(shape_.k),
                                .c = {.row = shape_.n}},
          1, simulate::Constant{.b = b.data()});
    } catch (const Error& error) {
      if (error.code() == ErrorCode::Unsupported) return;  // no oneDNN
      throw;
    }
    const auto operands = std::make_shared<Operands>(
        Operands{quantizer, gaussian(shape_.m * shape_.k, 1),
                 Values(static_cast<size_t>(shape_.m * shape_.k)), std::move(b),
                 Values(static_cast<size_t>(shape_.m * shape_.n)), std::move(*matmul)});
    const auto work = [operands, shape = shape_] {
      Operands& o = *operands;
      o.quantizer.fake_quantize({o.a.data(), shape.m, shape.k},
                                {o.quantized.data(), shape.m, shape.k});
      o.matmul.run(0, o.quantized.data(), nullptr, o.c.data());
    };
    work();
    require_product("simulated mxint4", shape_, operands->quantized, operands->b, operands->c);
    add("simulated mxint4", work);
  }

  void add_native(const char* name, const char* left_spec, const char* right_spec) {
    const auto quantize = [](const char* spec, int64_t rows, int64_t cols, uint64_t seed) {
      const Values values = gaussian(rows * cols, seed);
      return quant::Quantizer(quant::parse_quant_spec(spec)).quantize({values.data(), rows, cols});
    };
    const auto decode = [](const quant::QuantizedMatrix& matrix) {
      Values values(matrix.codes.size());
      quant::dequantize(matrix, {values.data(), matrix.rows, matrix.cols});
      return values;
    };
    struct Operands {
      integer::RowMatrix rows;
      integer::PanelMatrix panels;
      integer::AlignedVector<float> c;
    };
    const auto left = quantize(left_spec, shape_.m, shape_.k, 1);
    const auto right = quantize(right_spec, shape_.n, shape_.k, 2);
    const auto operands = std::make_shared<Operands>(
        Operands{integer::make_rows(left, integer::kernels()),
                 integer::make_panels(right, integer::kernels()),
                 integer::AlignedVector<float>(static_cast<size_t>(shape_.m * shape_.n))});
    const auto work = [operands, shape = shape_, pool = &pool_] {
      integer::multiply(operands->rows, operands->panels, {operands->c.data(), shape.m, shape.n},
                        *pool);
    };
    work();
    require_product(name, shape_, decode(left), decode(right), operands->c);
    add(name, work);
  }

  GemmShape shape_;
  ThreadPool pool_;
  std::vector<Contender> contenders_;
};

}  // namespace

void require_product(const std::string& name, const GemmShape& shape, std::span<const float> a,
                     std::span<const float> b, std::span<const float> c) {
  constexpr int64_t kSamples = 512;
  Rng rng(7);
  for (int64_t sample = 0; sample < kSamples; ++sample) {
    const auto row = static_cast<int64_t>(rng.below(static_cast<uint64_t>(shape.m)));
    const auto column = static_cast<int64_t>(rng.below(static_cast<uint64_t>(shape.n)));
    double sum = 0;
    double magnitudes = 0;
    for (int64_t i = 0; i < shape.k; ++i) {
      const double product = static_cast<double>(a[static_cast<size_t>(row * shape.k + i)]) *
                             static_cast<double>(b[static_cast<size_t>(column * shape.k + i)]);
      sum += product;
      magnitudes += std::fabs(product);
    }
    const auto got = static_cast<double>(c[static_cast<size_t>(row * shape.n + column)]);
    const double bound = static_cast<double>(shape.k + 1) * 0x1p-24 * magnitudes;
    DRIFTLESS_REQUIRE(std::fabs(got - sum) <= bound, ErrorCode::Internal, "bench: ", name,
                      " gave a wrong product at row ", row, ", column ", column, "; got ", got,
                      ", expected ", sum, " within ", bound);
  }
}

std::vector<GemmRow> race_gemms(const NamedShape& shape, const GemmOptions& options) {
  const auto race = [&](int64_t threads, Who who) {
    Field field(shape.shape, threads, who);
    field.race(options.rounds);
    return field.rows(shape.name);
  };
  keep_onednn_to_vectors();
  std::vector<GemmRow> rows = race(1, Who::Peers);
  const std::vector<GemmRow> simulated = race(1, Who::Simulated);
  if (!simulated.empty() && simulated.back().kernel != kBaseKernel)
    rows.push_back(simulated.back());
  if (options.threads == 1) return rows;
  for (GemmRow& row : race(options.threads, Who::Peers)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace driftless::bench
