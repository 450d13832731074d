// SPDX-License-Identifier: Apache-2.0
// The functions of lab in a build without libtorch.
#include "driftless/base/error.h"
#include "driftless/lab/reasoner/torch_reasoner.h"
#include "driftless/lab/session.h"

namespace driftless::lab {
namespace {

[[noreturn]] void no_torch(std::string_view what) {
  fail(ErrorCode::Unsupported, what,
       ": this build has no libtorch; install it (on Debian: libtorch-dev) and configure with "
       "-DDRIFTLESS_LAB=ON, or use the preset torch");
}

}  // namespace

EndOfRun run_training(const TrainRequest&, const TrainListener&) { no_torch("train"); }
TrainBench bench_training(const TrainRequest&, int64_t, const BenchListener&) {
  no_torch("bench train");
}
void run_check(const std::string&, const MakeNative&, const Talk&) { no_torch("train check"); }
void run_disjoint(const TrainRequest&, const Talk&) { no_torch("train disjoint"); }
void run_widen(const WidenRequest&, const Talk&) { no_torch("train widen"); }
void run_narrow(const std::filesystem::path&, const std::filesystem::path&, int64_t, double) {
  no_torch("train narrow");
}
void run_travel(const std::filesystem::path&, const std::filesystem::path&) {
  no_torch("train travel");
}

TorchType parse_torch_type(std::string_view) { no_torch("--device"); }
std::unique_ptr<reason::Reasoner> make_torch_reasoner(const store::Checkpoint&,
                                                      const TorchOptions& options) {
  no_torch("--device " + options.device);
}

}  // namespace driftless::lab
