// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/backend.h"

#include <algorithm>

#include "driftless/base/error.h"
#include "driftless/base/text.h"
#include "driftless/cli/terminal/interrupt.h"
#include "driftless/cli/terminal/progress.h"
#include "driftless/lab/reasoner/torch_reasoner.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/reason/calibrate.h"
#include "driftless/simulate/cpu_reasoner.h"

namespace driftless::cli {
namespace {

// Enough boards to fill a large device; a CPU gains nothing from more than a few.
constexpr int64_t kCudaSlots = 1024;
constexpr int64_t kCpuSlots = 32;

std::unique_ptr<reason::Reasoner> make_on_torch(const store::Checkpoint& checkpoint,
                                                const quant::QuantPlan& plan,
                                                const BackendOptions& options) {
  const bool is_cuda = options.device == "cuda";
  const int64_t usual = is_cuda ? kCudaSlots : kCpuSlots;
  return lab::make_torch_reasoner(checkpoint, {.device = is_cuda ? "cuda" : "cpu",
                                               .slots = options.slots > 0 ? options.slots : usual,
                                               .type = lab::parse_torch_type(options.dtype),
                                               .threads = options.threads,
                                               .plan = &plan});
}

/// Four boards per thread keep all threads busy until the last boards.
int64_t slots_on_cpu(const BackendOptions& options) {
  return options.slots > 0 ? options.slots : std::max<int64_t>(8, 4 * options.threads);
}

simulate::CpuOptions cpu_options(const BackendOptions& options) {
  return {.slots = slots_on_cpu(options),
          .threads = options.threads,
          .dtype = simulate::parse_dtype(options.dtype)};
}

std::unique_ptr<reason::Reasoner> make_native(const store::PackedModel& packed,
                                              const BackendOptions& options) {
  DRIFTLESS_REQUIRE(options.dtype == "f32", ErrorCode::InvalidArgument, "--dtype; got '",
                    options.dtype, "', expected f32 with --native");
  return native::make_native_reasoner(packed,
                                      {.slots = slots_on_cpu(options), .threads = options.threads});
}

}  // namespace

void add_device_flags(const Verb& verb, BackendOptions& options) {
  const Flag device = verb.add_option("--device", options.device,
                                      "cpu, native (integers), or with libtorch cpu-torch or cuda")
                          .shows_default();
  verb.add_switch(
          "--native", [&options] { options.device = "native"; },
          "multiply integers instead of simulating them; mx quantizers get window=4")
      .excludes(device);
  verb.add_option("--dtype", options.dtype, "type of activations: f32 or bf16").shows_default();
  verb.add_option("--threads", options.threads, "threads").shows_default();
}

void add_backend_flags(const Verb& verb, BackendOptions& options) {
  add_device_flags(verb, options);
  const Flag batch =
      verb.add_option("--batch", options.slots, "boards at a time (default: by device)").positive();
  verb.accepts_old("--slots", batch);
}

void require_device(const BackendOptions& options) {
  DRIFTLESS_REQUIRE(
      std::find(kDeviceNames.begin(), kDeviceNames.end(), options.device) != kDeviceNames.end(),
      ErrorCode::InvalidArgument, "--device; got '", options.device, "', expected one of ",
      join(kDeviceNames, ", "), did_you_mean(options.device, kDeviceNames));
}

std::string backend_name(const BackendOptions& options) {
  return options.dtype == "f32" ? options.device : options.device + " " + options.dtype;
}

std::unique_ptr<reason::Reasoner> make_reasoner(const store::Checkpoint& checkpoint,
                                                const quant::QuantPlan& plan,
                                                const BackendOptions& options) {
  require_device(options);
  // A float model has nothing to multiply as integers: it is what native rows are compared with.
  if (options.device == "native" && !plan.is_float())
    return make_native(store::pack_model(checkpoint, plan), options);
  if (options.device != "cpu" && options.device != "native")
    return make_on_torch(checkpoint, plan, options);
  simulate::CpuOptions cpu = cpu_options(options);
  cpu.plan = &plan;
  return simulate::make_cpu_reasoner(checkpoint, cpu);
}

std::unique_ptr<reason::Reasoner> make_reasoner(const store::PackedModel& packed,
                                                const BackendOptions& options) {
  require_device(options);
  if (options.device == "native") return make_native(packed, options);
  DRIFTLESS_REQUIRE(options.device == "cpu", ErrorCode::Unsupported, "--device ", options.device,
                    ": packed models run on cpu and native; use their source");
  return simulate::make_cpu_reasoner(packed, cpu_options(options));
}

void calibrate(const store::Checkpoint& checkpoint, const BackendOptions& options,
               std::span<const reason::Board> boards, std::span<quant::QuantPlan> plans) {
  BackendOptions each = options;
  if (each.device == "native") each.device = "cpu";  // floats are calibrated in float
  const bool is_cpu = each.device == "cpu";
  if (is_cpu) each.threads = each.slots = 1;
  const auto make = [&](const quant::QuantPlan* transforms) {
    return make_reasoner(checkpoint, transforms ? *transforms : quant::QuantPlan{}, each);
  };
  Progress progress("calibrating", std::ssize(boards));
  reason::calibrate(make, boards, plans, is_cpu ? options.threads : 1, [&](int64_t done) {
    if (was_interrupted())
      throw Interrupted("interrupted while calibrating, after " + std::to_string(done) + " of " +
                        std::to_string(boards.size()) + " boards; nothing was written");
    progress.show(done, "");
  });
}

}  // namespace driftless::cli
