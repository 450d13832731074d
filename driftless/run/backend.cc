// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/backend.h"

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"
#include "driftless/base/thread_pool.h"
#include "driftless/lab/reasoner/torch_reasoner.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/simulate/cpu_reasoner.h"

namespace driftless::run {
namespace {

using ReasonerPtr = std::unique_ptr<reason::Reasoner>;

/// Four boards per thread keep all threads busy until the last boards.
int64_t slots_on_cpu(const BackendOptions& options) {
  DRIFTLESS_REQUIRE(options.threads >= 1 && options.threads <= ThreadPool::kMostThreads,
                    ErrorCode::InvalidArgument, "threads; got ", options.threads,
                    ", expected 1 to ", ThreadPool::kMostThreads);
  return options.slots > 0 ? options.slots : std::max<int64_t>(8, 4 * options.threads);
}

simulate::CpuOptions cpu_options(const BackendOptions& options) {
  return {.slots = slots_on_cpu(options),
          .threads = options.threads,
          .dtype = simulate::parse_dtype(options.dtype)};
}

ReasonerPtr make_on_cpu(const store::Checkpoint& checkpoint, const quant::QuantPlan& plan,
                        const BackendOptions& options) {
  simulate::CpuOptions cpu = cpu_options(options);
  cpu.plan = &plan;
  return simulate::make_cpu_reasoner(checkpoint, cpu);
}

ReasonerPtr make_packed_on_cpu(const store::PackedModel& packed, const BackendOptions& options) {
  return simulate::make_cpu_reasoner(packed, cpu_options(options));
}

ReasonerPtr make_packed_native(const store::PackedModel& packed, const BackendOptions& options) {
  DRIFTLESS_REQUIRE(options.dtype == "f32", ErrorCode::InvalidArgument, "--dtype; got '",
                    options.dtype, "', expected f32 with --native");
  return native::make_native_reasoner(packed,
                                      {.slots = slots_on_cpu(options), .threads = options.threads});
}

/// A float model has nothing to multiply as integers: it is what native rows are compared with.
ReasonerPtr make_native(const store::Checkpoint& checkpoint, const quant::QuantPlan& plan,
                        const BackendOptions& options) {
  if (plan.is_float()) return make_on_cpu(checkpoint, plan, options);
  return make_packed_native(store::pack_model(checkpoint, plan), options);
}

ReasonerPtr make_on_torch(const store::Checkpoint& checkpoint, const quant::QuantPlan& plan,
                          const BackendOptions& options, std::string device, int64_t usual_slots) {
  return lab::make_torch_reasoner(checkpoint,
                                  {.device = std::move(device),
                                   .slots = options.slots > 0 ? options.slots : usual_slots,
                                   .type = lab::parse_torch_type(options.dtype),
                                   .threads = options.threads,
                                   .plan = &plan});
}

// A CPU gains nothing from more boards than a few; a large device is filled by many.
ReasonerPtr make_on_cpu_torch(const store::Checkpoint& checkpoint, const quant::QuantPlan& plan,
                              const BackendOptions& options) {
  return make_on_torch(checkpoint, plan, options, "cpu", 32);
}

ReasonerPtr make_on_cuda(const store::Checkpoint& checkpoint, const quant::QuantPlan& plan,
                         const BackendOptions& options) {
  return make_on_torch(checkpoint, plan, options, "cuda", 1024);
}

// On a GPU float32 products cost so much that more rows should share the float model's.
constexpr std::array<Device, 4> kDevices = {{
    {.name = "cpu",
     .make = make_on_cpu,
     .make_packed = make_packed_on_cpu,
     .simulator = "cpu",
     .calibrates_by_thread = true},
    {.name = "native",
     .make = make_native,
     .make_packed = make_packed_native,
     .execution = study::Execution::Native,
     .simulator = "cpu"},
    {.name = "cpu-torch", .make = make_on_cpu_torch, .simulator = "cpu-torch"},
    {.name = "cuda",
     .make = make_on_cuda,
     .simulator = "cuda",
     .study_batch = 640,
     .study_rows = 6},
}};

}  // namespace

int64_t default_threads() { return std::max<int64_t>(1, std::thread::hardware_concurrency()); }

std::span<const Device> devices() { return kDevices; }

const Device& find_device(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Device& device : kDevices) {
    if (device.name == name) return device;
    names.push_back(device.name);
  }
  fail(ErrorCode::InvalidArgument, "--device; got '", name, "', expected one of ",
       join(names, ", "), did_you_mean(name, names));
}

BackendOptions simulating(BackendOptions options) {
  options.device = find_device(options.device).simulator;
  return options;
}

std::string backend_name(const BackendOptions& options) {
  return options.dtype == "f32" ? options.device : options.device + " " + options.dtype;
}

ReasonerPtr make_reasoner(const store::Checkpoint& checkpoint, const quant::QuantPlan& plan,
                          const BackendOptions& options) {
  return find_device(options.device).make(checkpoint, plan, options);
}

ReasonerPtr make_reasoner(const store::PackedModel& packed, const BackendOptions& options) {
  const Device& device = find_device(options.device);
  DRIFTLESS_REQUIRE(device.make_packed != nullptr, ErrorCode::Unsupported, "--device ",
                    options.device, ": packed models run on cpu and native; use their source");
  return device.make_packed(packed, options);
}

ReasonerPtr make_reasoner(const store::ModelFile& model, const quant::QuantPlan& plan,
                          const BackendOptions& options) {
  return model.packed ? make_reasoner(*model.packed, options)
                      : make_reasoner(model.checkpoint, plan, options);
}

}  // namespace driftless::run
