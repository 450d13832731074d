// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>
#include <sys/mman.h>

#include "driftless/base/error.h"
#include "driftless/base/isa.h"
#include "driftless/loop/kernels/epilogues.h"
#include "driftless/simulate/product/products.h"

namespace driftless::simulate {
namespace {

using DataType = dnnl::memory::data_type;
constexpr auto kFloat = DataType::f32;

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

/// oneDNN ends the process where the system has no memory for the code that it makes, when a
/// product is built and when it first runs. Throws bad_alloc in time: all of that code, and the
/// heaps of the threads that run it, fit into what is asked for here.
void require_memory_for_code() {
  constexpr size_t kBytes = size_t{64} << 20;
  void* const memory =
      ::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  ::munmap(memory, kBytes);
}

dnnl::memory::desc describe(int64_t rows, int64_t columns, Strides strides,
                            DataType type = kFloat) {
  return {{rows, columns}, type, dnnl::memory::dims{strides.row, strides.column}};
}

/// oneDNN takes operands without const and does not write to them.
template <class Value>
void* unconst(const Value* values) {
  return const_cast<Value*>(values);
}

/// bfloat16 values, as bits.
using Halves = std::vector<uint16_t>;

/// An operand of bfloat16 values, packed into neighboring runs of the float operand's order.
class PackedMatrix {
 public:
  PackedMatrix(int64_t rows, int64_t columns, Strides strides)
      : runs_(strides.column == 1 ? rows : columns),
        length_(strides.column == 1 ? columns : rows),
        stride_(strides.column == 1 ? strides.row : strides.column),
        desc_(describe(rows, columns,
                       strides.column == 1 ? Strides{length_, 1} : Strides{1, length_},
                       DataType::bf16)) {}

  [[nodiscard]] const dnnl::memory::desc& desc() const { return desc_; }
  [[nodiscard]] size_t size() const { return static_cast<size_t>(runs_ * length_); }

  void pack(const float* values, Halves& out) const {
    uint16_t* to = out.data();
    const auto round = loop::epilogues().to_bf16;
    for (int64_t run = 0; run < runs_; ++run, values += stride_, to += length_)
      round(values, to, length_);
  }

 private:
  int64_t runs_, length_, stride_;
  dnnl::memory::desc desc_;
};

/// Operands as they come, or rounded to bfloat16 on the way in.
class OnednnProduct : public Product {
 public:
  OnednnProduct(const MatmulShape& shape, int64_t workers, const Constant& constant, DataType type)
      : has_constant_a_(constant.a != nullptr), has_constant_b_(constant.b != nullptr) {
    if (type == DataType::bf16) {
      packed_a_.emplace(shape.m, shape.k, shape.a);
      packed_b_.emplace(shape.k, shape.n, shape.b);
    }
    require_memory_for_code();
    const OneThread one_thread;
    const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
    const auto float_a = describe(shape.m, shape.k, shape.a);
    const auto float_b = describe(shape.k, shape.n, shape.b);
    const auto plain_a = packed_a_ ? packed_a_->desc() : float_a;
    const auto plain_b = packed_b_ ? packed_b_->desc() : float_b;
    const auto wanted_b = has_constant_b_ ? dnnl::memory::desc({shape.k, shape.n}, type,
                                                               dnnl::memory::format_tag::any)
                                          : plain_b;
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::matmul::primitive_desc description(
        {plain_a, wanted_b, describe(shape.m, shape.n, shape.c)}, attributes, cpu);
    product_ = dnnl::matmul(description);
    if (has_constant_a_) constant_ = copy(constant.a, packed_a_, float_a, description.src_desc());
    if (has_constant_b_)
      constant_ = copy(constant.b, packed_b_, float_b, description.weights_desc());
    for (int64_t i = 0; i < workers; ++i)
      per_worker_.push_back(
          {dnnl::stream(cpu),
           has_constant_a_ ? constant_ : dnnl::memory(description.src_desc(), cpu, nullptr),
           has_constant_b_ ? constant_ : dnnl::memory(description.weights_desc(), cpu, nullptr),
           dnnl::memory(description.dst_desc(), cpu, nullptr),
           dnnl::memory(description.scratchpad_desc(), cpu),
           Halves(packed_a_ && !has_constant_a_ ? packed_a_->size() : 0),
           Halves(packed_b_ && !has_constant_b_ ? packed_b_->size() : 0)});
  }

  void run(int64_t worker, const float* a, const float* b, float* c) const override {
    const OneThread one_thread;
    Worker& mine = per_worker_[static_cast<size_t>(worker)];
    if (!has_constant_a_) set(mine.a, a, packed_a_, mine.halves_a);
    if (!has_constant_b_) set(mine.b, b, packed_b_, mine.halves_b);
    mine.c.set_data_handle(c);
    if (mine.has_run) return execute(mine);
    // One at a time, so that no other thread takes what was found to be free.
    static std::mutex first_runs;
    const std::lock_guard<std::mutex> lock(first_runs);
    require_memory_for_code();
    execute(mine);
    mine.has_run = true;
  }

 private:
  /// Memory objects point at the operands of one call, so each worker has its own.
  struct Worker {
    dnnl::stream stream;
    dnnl::memory a, b, c, scratch;
    Halves halves_a, halves_b;
    bool has_run = false;
  };

  void execute(const Worker& mine) const {
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

  static void set(dnnl::memory& memory, const float* values,
                  const std::optional<PackedMatrix>& packed, Halves& halves) {
    if (!packed) return memory.set_data_handle(unconst(values));
    packed->pack(values, halves);
    memory.set_data_handle(halves.data());
  }

  static dnnl::memory copy(const float* values, const std::optional<PackedMatrix>& packed,
                           const dnnl::memory::desc& floats, const dnnl::memory::desc& to) {
    const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
    Halves halves(packed ? packed->size() : 0);
    dnnl::memory source(packed ? packed->desc() : floats, cpu, nullptr);
    set(source, values, packed, halves);
    dnnl::memory target(to, cpu);
    dnnl::stream stream(cpu);
    dnnl::reorder(source, target).execute(stream, source, target);
    stream.wait();
    return target;
  }

  bool has_constant_a_, has_constant_b_;
  std::optional<PackedMatrix> packed_a_, packed_b_;  // of bfloat16 products
  dnnl::matmul product_;
  dnnl::memory constant_;
  mutable std::vector<Worker> per_worker_;
};

}  // namespace

namespace {

std::unique_ptr<Product> make_onednn_product(const MatmulShape& shape, int64_t workers,
                                             const Constant& constant, DataType type) {
  try {
    return std::make_unique<OnednnProduct>(shape, workers, constant, type);
  } catch (const dnnl::error& error) {
    fail(ErrorCode::Unsupported, "oneDNN matmul of [", shape.m, ", ", shape.k, "] and [", shape.k,
         ", ", shape.n, "]; got status ", static_cast<int>(error.status), " (", error.what(), ")");
  }
}

}  // namespace

std::unique_ptr<Product> make_float_product(const MatmulShape& shape, int64_t workers,
                                            const Constant& constant) {
  return make_onednn_product(shape, workers, constant, kFloat);
}

bool has_bf16_products() {
  return is_allowed("avx512bf16") &&
         dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::avx512_core_bf16;
}

std::unique_ptr<Product> make_bf16_product(const MatmulShape& shape, int64_t workers,
                                           const Constant& constant) {
  return make_onednn_product(shape, workers, constant, DataType::bf16);
}

}  // namespace driftless::simulate
