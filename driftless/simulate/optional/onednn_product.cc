// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "driftless/base/error.h"
#include "driftless/simulate/product/products.h"

namespace driftless::simulate {
namespace {

constexpr auto kFloat = dnnl::memory::data_type::f32;

/// oneDNN splits work over the OpenMP threads of the caller. Within this scope that is one, so that
/// a product never depends on how many threads there are; other users of OpenMP keep their number.
class OneThread {
 public:
  OneThread() : previous_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(previous_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int previous_;
};

dnnl::memory::desc describe(int64_t rows, int64_t columns, Strides strides) {
  return {{rows, columns}, kFloat, dnnl::memory::dims{strides.row, strides.column}};
}

/// oneDNN takes operands without const and does not write to them.
void* unconst(const float* values) { return const_cast<float*>(values); }

class OnednnProduct : public Product {
 public:
  OnednnProduct(const MatmulShape& shape, int64_t workers, const Constant& constant)
      : has_constant_a_(constant.a != nullptr), has_constant_b_(constant.b != nullptr) {
    const OneThread one_thread;
    const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
    const auto plain_b = describe(shape.k, shape.n, shape.b);
    const auto wanted_b = has_constant_b_ ? dnnl::memory::desc({shape.k, shape.n}, kFloat,
                                                               dnnl::memory::format_tag::any)
                                          : plain_b;
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::matmul::primitive_desc description(
        {describe(shape.m, shape.k, shape.a), wanted_b, describe(shape.m, shape.n, shape.c)},
        attributes, cpu);
    product_ = dnnl::matmul(description);
    if (has_constant_a_)
      constant_ = copy(constant.a, describe(shape.m, shape.k, shape.a), description.src_desc());
    if (has_constant_b_) constant_ = copy(constant.b, plain_b, description.weights_desc());
    for (int64_t i = 0; i < workers; ++i)
      per_worker_.push_back(
          {dnnl::stream(cpu),
           has_constant_a_ ? constant_ : dnnl::memory(description.src_desc(), cpu, nullptr),
           has_constant_b_ ? constant_ : dnnl::memory(description.weights_desc(), cpu, nullptr),
           dnnl::memory(description.dst_desc(), cpu, nullptr),
           dnnl::memory(description.scratchpad_desc(), cpu)});
  }

  void run(int64_t worker, const float* a, const float* b, float* c) const override {
    const OneThread one_thread;
    Worker& mine = per_worker_[static_cast<size_t>(worker)];
    if (!has_constant_a_) mine.a.set_data_handle(unconst(a));
    if (!has_constant_b_) mine.b.set_data_handle(unconst(b));
    mine.c.set_data_handle(c);
    // The C call takes a plain array; the C++ one would build a map and a vector each time.
    const std::array<dnnl_exec_arg_t, 4> arguments = {{{DNNL_ARG_SRC, mine.a.get()},
                                                       {DNNL_ARG_WEIGHTS, mine.b.get()},
                                                       {DNNL_ARG_DST, mine.c.get()},
                                                       {DNNL_ARG_SCRATCHPAD, mine.scratch.get()}}};
    const dnnl_status_t status = dnnl_primitive_execute(
        product_.get(), mine.stream.get(), static_cast<int>(arguments.size()), arguments.data());
    DRIFTLESS_REQUIRE(status == dnnl_success, ErrorCode::Internal, "oneDNN matmul; got status ",
                      static_cast<int>(status));
  }

 private:
  /// Memory objects point at the operands of one call, so each worker has its own.
  struct Worker {
    dnnl::stream stream;
    dnnl::memory a, b, c, scratch;
  };

  static dnnl::memory copy(const float* values, const dnnl::memory::desc& from,
                           const dnnl::memory::desc& to) {
    const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
    dnnl::memory source(from, cpu, unconst(values));
    dnnl::memory target(to, cpu);
    dnnl::stream stream(cpu);
    dnnl::reorder(source, target).execute(stream, source, target);
    stream.wait();
    return target;
  }

  bool has_constant_a_, has_constant_b_;
  dnnl::matmul product_;
  dnnl::memory constant_;
  mutable std::vector<Worker> per_worker_;
};

}  // namespace

std::unique_ptr<Product> make_float_product(const MatmulShape& shape, int64_t workers,
                                             const Constant& constant) {
  try {
    return std::make_unique<OnednnProduct>(shape, workers, constant);
  } catch (const dnnl::error& error) {
    fail(ErrorCode::Unsupported, "oneDNN matmul of [", shape.m, ", ", shape.k, "] and [", shape.k,
         ", ", shape.n, "]; got status ", static_cast<int>(error.status), " (", error.what(), ")");
  }
}

}  // namespace driftless::simulate
