// SPDX-License-Identifier: Apache-2.0
#include "driftless/bench/onednn_gemm.h"

#include <cstdlib>
#include <unordered_map>

#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

namespace driftless::bench {
namespace {

using DataType = dnnl::memory::data_type;

/// The OpenMP threads that oneDNN uses within this scope.
class Threads {
 public:
  explicit Threads(int64_t count) : previous_(omp_get_max_threads()) {
    omp_set_num_threads(static_cast<int>(count));
  }
  ~Threads() { omp_set_num_threads(previous_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int previous_;
};

constexpr DataType input_type(GemmType type) {
  switch (type) {
    case GemmType::Int8:
      return DataType::s8;
    case GemmType::BFloat16:
      return DataType::bf16;
    default:
      return DataType::f32;
  }
}

class Gemm : public OnednnGemm {
 public:
  Gemm(GemmType type, const GemmShape& shape, std::span<const float> a, std::span<const float> b,
       int64_t threads)
      : threads_(threads), cpu_(dnnl::engine::kind::cpu, 0), stream_(cpu_) {
    using Tag = dnnl::memory::format_tag;
    const Threads scope(threads);
    const DataType in = input_type(type);
    const DataType out = type == GemmType::Int8 ? DataType::s32 : DataType::f32;
    const dnnl::memory::desc a_desc({shape.m, shape.k}, in, Tag::ab);
    const dnnl::memory::desc c_desc({shape.m, shape.n}, out, Tag::ab);
    const dnnl::matmul::primitive_desc description(
        {a_desc, dnnl::memory::desc({shape.k, shape.n}, in, Tag::any), c_desc}, cpu_);
    product_ = dnnl::matmul(description);
    a_ = converted(a, {{shape.m, shape.k}, DataType::f32, Tag::ab}, a_desc);
    b_ = converted(b, {{shape.k, shape.n}, DataType::f32, Tag::ba}, description.weights_desc());
    c_ = dnnl::memory(c_desc, cpu_);
    arguments_ = {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}};
  }

  void run() override {
    const Threads scope(threads_);
    product_.execute(stream_, arguments_);
    stream_.wait();
  }

  [[nodiscard]] std::vector<float> result() const override {
    const dnnl::memory::desc desc = c_.get_desc();
    const auto dims = desc.dims();
    std::vector<float> values(static_cast<size_t>(dims[0] * dims[1]));
    const dnnl::memory floats({dims, DataType::f32, dnnl::memory::format_tag::ab}, cpu_,
                              values.data());
    reorder(c_, floats);
    return values;
  }

 private:
  dnnl::memory converted(std::span<const float> values, const dnnl::memory::desc& from,
                         const dnnl::memory::desc& to) const {
    // oneDNN takes operands without const and does not write to them.
    const dnnl::memory source(from, cpu_, const_cast<float*>(values.data()));
    dnnl::memory target(to, cpu_);
    reorder(source, target);
    return target;
  }

  void reorder(dnnl::memory from, dnnl::memory to) const {
    dnnl::stream stream(cpu_);
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
  }

  int64_t threads_;
  dnnl::engine cpu_;
  dnnl::stream stream_;
  dnnl::matmul product_;
  dnnl::memory a_, b_, c_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

}  // namespace

void end_onednn_threads() { (void)omp_pause_resource_all(omp_pause_soft); }

void keep_onednn_to_vectors() {
  for (const char* const variable : {"DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA"})
    if (std::getenv(variable) != nullptr) return;
  (void)dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16);
}

std::unique_ptr<OnednnGemm> make_onednn_gemm(GemmType type, const GemmShape& shape,
                                             std::span<const float> a, std::span<const float> b,
                                             int64_t threads) {
  try {
    return std::make_unique<Gemm>(type, shape, a, b, threads);
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

}  // namespace driftless::bench
