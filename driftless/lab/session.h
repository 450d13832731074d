// SPDX-License-Identifier: Apache-2.0
// What the command line asks of lab, free of torch: a build without libtorch has the same functions
// in run/optional/lab_stub.cc, which say how to get it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "driftless/lab/progress.h"
#include "driftless/lab/reasoner/torch_reasoner.h"
#include "driftless/lab/split.h"

namespace driftless::lab {

using Talk = std::function<void(std::string_view line)>;

struct TrainRequest {
  std::filesystem::path recipe;
  std::filesystem::path data = ".";  ///< where the files lie that the recipe names
  std::filesystem::path out;         ///< folder of the run
  std::filesystem::path from;        ///< weights to start from; random ones where empty
  std::string device = "cpu";
  bool is_resumed = false;  ///< go on with the run in `out`
  bool is_qat = false;      ///< train the quantized model: the recipe has [quant], `from` is float
  double max_seconds = 1e9;
  int64_t chunk = 512;
};

struct TrainListener {
  /// Called when all is read and made, before anything is written: from here on an end at any time
  /// would lose steps.
  std::function<void()> on_start = [] {};
  Talk talk = [](std::string_view) {};
  std::function<void(const Progress&)> report = [](const Progress&) {};
  std::function<bool()> should_stop = [] { return false; };  ///< asked often; the run then saves
};

/// Trains as the recipe says, alone or as one rank of a job. Only rank 0 reports. Throws BadConfig
/// on a wrong recipe or one of the other kind, or on weights of another model; InvalidArgument when
/// `out` holds a run that is not resumed or a quantized run has no weights to start from; and what
/// train_loop.h says.
EndOfRun run_training(const TrainRequest& request, const TrainListener& listener);

/// One line of a benchmark.
struct BenchResult {
  std::string name;
  double ms = 0;     ///< median of the repetitions
  double gflop = 0;  ///< arithmetic of one repetition, 0 where it does not matter
  double gbyte = 0;  ///< 10^9 bytes of its operands and results in device memory
};
struct TrainBench {
  double ms_per_step = 0;
  double step_gflop = 0;
  double peak_gflops = 0;  ///< what a large matrix product of the same type reaches here
};
struct BenchListener {
  Talk talk;
  std::function<void(const BenchResult& result, double peak_gflops)> report;
};
/// Times the device's matrix peak, the pieces of a block and `steps` training steps.
TrainBench bench_training(const TrainRequest& request, int64_t steps,
                          const BenchListener& listener);

/// Compares the device with the CPU, see check.h; a line each. Throws Numeric when one fails.
void run_check(const std::string& device, const MakeNative& make_native, const Talk& talk);

/// Throws BadConfig when a file of the recipe's pool holds evaluation boards up to symmetry.
void run_disjoint(const TrainRequest& request, const Talk& talk);

struct WidenRequest {
  std::string weights;
  std::string out;
  std::string split{kSplits[0].name};
  uint64_t seed = 1;
};
/// Writes weights of twice the width that compute the same, see widen.h; says their tails.
void run_widen(const WidenRequest& request, const Talk& talk);

/// Writes a start for a model of these sizes, see narrow.h; expansion 0 keeps the model's.
void run_narrow(const std::filesystem::path& weights, const std::filesystem::path& out,
                int64_t width, double expansion);

/// Writes a run's state as it travels, see train/travel.h.
void run_travel(const std::filesystem::path& state, const std::filesystem::path& out);

}  // namespace driftless::lab
