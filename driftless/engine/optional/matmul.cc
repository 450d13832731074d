// SPDX-License-Identifier: Apache-2.0
#include "driftless/engine/matmul.h"

#include <array>
#include <vector>

#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "driftless/base/error.h"

namespace driftless::engine {
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

}  // namespace

/// Memory objects point at the operands of one call, so each worker has its own.
struct Matmul::Prepared {
  struct Worker {
    dnnl::stream stream;
    dnnl::memory a, b, c, scratch;
  };

  Prepared(const MatmulShape& shape, int64_t workers, const float* constant)
      : has_constant_b(constant != nullptr) {
    const OneThread one_thread;
    const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
    const auto plain_b = describe(shape.k, shape.n, shape.b);
    const auto wanted_b = has_constant_b ? dnnl::memory::desc({shape.k, shape.n}, kFloat,
                                                              dnnl::memory::format_tag::any)
                                         : plain_b;
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::matmul::primitive_desc description(
        {describe(shape.m, shape.k, shape.a), wanted_b, describe(shape.m, shape.n, shape.c)},
        attributes, cpu);
    product = dnnl::matmul(description);
    if (has_constant_b) {
      packed = dnnl::memory(description.weights_desc(), cpu);
      dnnl::memory source(plain_b, cpu, unconst(constant));
      dnnl::stream stream(cpu);
      dnnl::reorder(source, packed).execute(stream, source, packed);
      stream.wait();
    }
    for (int64_t i = 0; i < workers; ++i)
      per_worker.push_back(
          {dnnl::stream(cpu), dnnl::memory(description.src_desc(), cpu, nullptr),
           has_constant_b ? packed : dnnl::memory(description.weights_desc(), cpu, nullptr),
           dnnl::memory(description.dst_desc(), cpu, nullptr),
           dnnl::memory(description.scratchpad_desc(), cpu)});
  }

  bool has_constant_b;
  dnnl::matmul product;
  dnnl::memory packed;
  std::vector<Worker> per_worker;
};

Matmul::Matmul(const MatmulShape& shape, int64_t workers)
    : prepared_(std::make_unique<Prepared>(shape, workers, nullptr)) {}
Matmul::Matmul(const MatmulShape& shape, int64_t workers, const float* constant_b)
    : prepared_(std::make_unique<Prepared>(shape, workers, constant_b)) {}
Matmul::~Matmul() = default;
Matmul::Matmul(Matmul&&) noexcept = default;
Matmul& Matmul::operator=(Matmul&&) noexcept = default;

void Matmul::run(int64_t worker, const float* a, const float* b, float* c) const {
  const OneThread one_thread;
  Prepared::Worker& mine = prepared_->per_worker[static_cast<size_t>(worker)];
  mine.a.set_data_handle(unconst(a));
  if (!prepared_->has_constant_b) mine.b.set_data_handle(unconst(b));
  mine.c.set_data_handle(c);
  // The C call takes a plain array; the C++ one would build a map and a vector each time.
  const std::array<dnnl_exec_arg_t, 4> arguments = {{{DNNL_ARG_SRC, mine.a.get()},
                                                     {DNNL_ARG_WEIGHTS, mine.b.get()},
                                                     {DNNL_ARG_DST, mine.c.get()},
                                                     {DNNL_ARG_SCRATCHPAD, mine.scratch.get()}}};
  const dnnl_status_t status =
      dnnl_primitive_execute(prepared_->product.get(), mine.stream.get(),
                             static_cast<int>(arguments.size()), arguments.data());
  DRIFTLESS_REQUIRE(status == dnnl_success, ErrorCode::Internal, "oneDNN matmul; got status ",
                    static_cast<int>(status));
}

}  // namespace driftless::engine
