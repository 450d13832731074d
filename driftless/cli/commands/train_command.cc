// SPDX-License-Identifier: Apache-2.0
// driftless train: training on libtorch and what belongs to it; driftless bench train.
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include <unistd.h>

#include "driftless/base/error.h"
#include "driftless/cli/command.h"
#include "driftless/cli/terminal/interrupt.h"
#include "driftless/cli/terminal/progress.h"
#include "driftless/lab/session.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/run/backend.h"

namespace driftless::cli {
namespace {

/// One line on a terminal, overwritten; a line for each report anywhere else.
class TrainProgress {
 public:
  ~TrainProgress() {
    if (is_terminal_) std::fputs("\r\x1b[K", stderr);
  }

  void show(const lab::Progress& progress) {
    if (progress.evaluated) {
      char text[64];
      std::snprintf(text, sizeof(text), ", held out %.1f %% exact at step %lld",
                    100 * progress.evaluated->exact.value(), static_cast<long long>(progress.step));
      evaluated_ = text;
    }
    char pace[128] = "";
    if (progress.ms_per_step > 0)
      std::snprintf(pace, sizeof(pace),
                    ", %.1f ms/step, %s left, loss %.3f, training %.1f %% exact",
                    progress.ms_per_step, duration_text(progress.seconds_left).c_str(),
                    progress.answer_loss, 100 * progress.exact_rate);
    std::fprintf(stderr, "%sstep %lld of %lld%s%s%s", is_terminal_ ? "\r" : "",
                 static_cast<long long>(progress.step), static_cast<long long>(progress.steps),
                 pace, evaluated_.c_str(), is_terminal_ ? "\x1b[K" : "\n");
  }

 private:
  bool is_terminal_ = isatty(STDERR_FILENO) == 1;
  std::string evaluated_;
};

void print_end(const lab::EndOfRun& end, const lab::TrainRequest& request) {
  if (end.evaluated) {
    const task::Share& exact = end.evaluated->exact;
    const task::Interval interval = exact.interval();
    std::printf("exact      %6.2f %%   (95 %% interval %.2f to %.2f, n %lld boards, step %lld)\n",
                100 * exact.value(), 100 * interval.low, 100 * interval.high,
                static_cast<long long>(exact.n), static_cast<long long>(end.step));
  }
  std::printf("weights    %s\n", (request.out / "weights.safetensors").c_str());
  if (request.is_qat) std::printf("plan       %s\n", (request.out / "plan.json").c_str());
}

/// The folder of the run.
std::filesystem::path folder_of(const lab::TrainRequest& request) {
  return request.out.empty() ? std::filesystem::path("runs") / request.recipe.stem() : request.out;
}

void train(lab::TrainRequest request) {
  DRIFTLESS_REQUIRE(!request.recipe.empty(), ErrorCode::InvalidArgument,
                    request.is_qat ? "qat" : "train",
                    ": no recipe; expected a file such as recipes/sudoku-4x4.toml");
  request.out = folder_of(request);
  lab::EndOfRun end;
  int signal = 0;
  {
    InterruptGuard guard;
    TrainProgress progress;
    end = lab::run_training(
        request,
        {.on_start =
             [&] {
               guard.be_patient();
               if (was_interrupted())
                 throw Interrupted("interrupted before the first step; nothing was written");
             },
         .talk =
             [](std::string_view line) {
               std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
             },
         .report = [&](const lab::Progress& report) { progress.show(report); },
         .should_stop = was_interrupted});
    signal = caught_signal();
  }
  const bool is_stopped = end.reason == lab::Reason::Stopped;
  if (end.is_reporter && is_stopped)
    std::fprintf(stderr,
                 "driftless: stopped after step %lld and saved; the same command with --resume "
                 "goes on\n",
                 static_cast<long long>(end.step));
  else if (end.is_reporter)
    print_end(end, request);
  if (!is_stopped) return;
  end_with(kSignalExit + (signal != 0 ? signal : SIGTERM));
}

void print_line(std::string_view line) {
  std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
}

void print_piece(const lab::BenchResult& piece, double peak_gflops) {
  std::printf("%-24s %8.3f ms", piece.name.c_str(), piece.ms);
  if (piece.gflop > 0)
    std::printf(" %8.1f GFLOP/s, %4.1f %% of the peak", 1e3 * piece.gflop / piece.ms,
                1e5 * piece.gflop / piece.ms / peak_gflops);
  if (piece.gbyte > 0)
    std::printf(", %.3f GB at %.0f GB/s", piece.gbyte, 1e3 * piece.gbyte / piece.ms);
  std::printf("\n");
}

void bench_train(const lab::TrainRequest& request, int64_t steps) {
  const lab::TrainBench bench = lab::bench_training(request, steps, {print_line, print_piece});
  const double tflops = bench.step_gflop / bench.ms_per_step;
  std::printf("%-24s %8.3f ms/step, %.3f TFLOP/s, %.1f %% of the matrix peak (%.3f TFLOP/s)\n",
              "training step", bench.ms_per_step, tflops, 1e5 * tflops / bench.peak_gflops,
              bench.peak_gflops / 1e3);
}

void add_device(const Verb& verb, lab::TrainRequest& request) {
  verb.add_option("--device", request.device, "cpu or cuda").shows_default();
}
void add_data(const Verb& verb, lab::TrainRequest& request) {
  verb.add_option("--data", request.data, "folder of the files that the recipe names");
}
void add_chunk(const Verb& verb, lab::TrainRequest& request) {
  verb.add_option("--chunk", request.chunk, "boards at a time in the rounds without gradients")
      .positive()
      .shows_default();
}

void add_run_flags(const Verb& verb, lab::TrainRequest& request) {
  verb.add_input("RECIPE", request.recipe, "TOML file, see recipes/");
  add_data(verb, request);
  verb.add_option("--out", request.out, "folder of the run (default runs/ and the recipe's name)");
  verb.also_uses({"--out", FileRole::Part, [&request] {
                    std::vector<std::filesystem::path> files;
                    for (const char* const name :
                         {"recipe.txt", "identifiers.json", "metrics.jsonl", "state.safetensors",
                          "weights.safetensors", "plan.json"})
                      files.push_back(folder_of(request) / name);
                    return files;
                  }});
  add_device(verb, request);
  verb.add_input("--from", request.from, "weights to start from (train: random by default)");
  verb.add_switch("--resume", request.is_resumed, "go on with the run in --out");
  verb.add_option("--seconds", request.max_seconds, "stop, save and evaluate after this long")
      .between(0, kNoLimit);
  add_chunk(verb, request);
}

void add_check(const Verb& verb) {
  auto request = std::make_shared<lab::TrainRequest>();
  add_device(verb, *request);
  verb.example("driftless train check --device cuda");
  const auto make_native = [](const store::PackedModel& model, int64_t slots) {
    return native::make_native_reasoner(model, {.slots = slots, .threads = run::default_threads()});
  };
  verb.runs([request, make_native] { lab::run_check(request->device, make_native, print_line); });
}

void add_disjoint(const Verb& verb) {
  auto request = std::make_shared<lab::TrainRequest>();
  verb.add_input("RECIPE", request->recipe, "TOML file").required();
  add_data(verb, *request);
  verb.example("driftless train disjoint recipes/sudoku-small.toml --data DATA");
  verb.runs([request] { lab::run_disjoint(*request, print_line); });
}

void add_widen(const Verb& verb) {
  auto request = std::make_shared<lab::WidenRequest>();
  verb.add_input("WEIGHTS", request->weights, "checkpoint to grow").required();
  const Flag out = verb.add_output("--out", request->out, "checkpoint to write").required();
  verb.accepts_old("--output", out);
  verb.add_option(
          "--split", request->split,
          "shares of a weight between the copies of what it reads: random ones, or halves but "
          "for little noise, which keep large weights from standing out more")
      .one_of(names_of(lab::kSplits))
      .shows_default();
  verb.add_option("--seed", request->seed, "seed of the random shares").shows_default();
  verb.example("driftless train widen models/sudoku-small.safetensors --out wide.st");
  verb.runs([request] { lab::run_widen(*request, print_line); });
}

void add_narrow(const Verb& verb) {
  struct Options {
    std::string weights;
    std::string out;
    int64_t width = 0;
    double expansion = 0;
  };
  auto options = std::make_shared<Options>();
  verb.add_input("WEIGHTS", options->weights, "checkpoint to shrink").required();
  verb.add_output("--out", options->out, "checkpoint to write").required();
  verb.add_option("--width", options->width, "hidden size of the narrow model")
      .positive()
      .required();
  verb.add_option("--expansion", options->expansion,
                  "inner width of its SwiGLUs over the width (default: the model's)")
      .between(0, kNoLimit);
  verb.example(
      "driftless train narrow models/sudoku-small.safetensors --width 128 --out narrow.st");
  verb.runs([options] {
    lab::run_narrow(options->weights, options->out, options->width, options->expansion);
  });
}

void add_travel(const Verb& verb) {
  struct Options {
    std::string state;
    std::string out;
  };
  auto options = std::make_shared<Options>();
  verb.add_input("STATE", options->state, "state.safetensors of a run").required();
  verb.add_output("--out", options->out, "state to write").required();
  verb.example("driftless train travel run/state.safetensors --out small/state.safetensors");
  verb.runs([options] { lab::run_travel(options->state, options->out); });
}

}  // namespace

void add_qat_command(const Verb& verb) {
  auto request = std::make_shared<lab::TrainRequest>();
  request->is_qat = true;
  add_run_flags(verb, *request);
  verb.example(
      "driftless qat recipes/qat/sudoku-small-mxint4.toml --from "
      "models/sudoku-small.safetensors --data DATA --out run\n"
      "driftless eval run/weights.safetensors --plan run/plan.json --data BOARDS runs the "
      "result on a CPU.");
  verb.runs([request] { train(*request); });
}

void add_train_command(const Verb& verb) {
  auto request = std::make_shared<lab::TrainRequest>();
  add_run_flags(verb, *request);
  verb.allows_verb();
  add_check(verb.add_verb("check", "whether a device computes what the CPU computes"));
  add_disjoint(verb.add_verb("disjoint", "whether pool and evaluation share boards"));
  add_widen(verb.add_verb("widen", "a model of twice the width that computes the same"));
  add_narrow(verb.add_verb(
      "narrow", "a narrower model to train on from, of the channels with the largest weights"));
  add_travel(verb.add_verb(
      "travel", "a run's state in 10 bytes a weight, to go on with it on another machine"));
  verb.example(
      "driftless train recipes/sudoku-4x4.toml --out run\n"
      "Ctrl-C or SIGTERM saves the run as its last whole step left it and exits with 128 + the "
      "signal; --resume goes on.\nSeveral processes: start it by mpirun or srun (MASTER_ADDR and "
      "MASTER_PORT say where rank 0 listens).");
  verb.runs([request] { train(*request); });
}

void add_bench_train_command(const Verb& verb) {
  auto request = std::make_shared<lab::TrainRequest>();
  auto steps = std::make_shared<int64_t>(40);
  verb.add_input("RECIPE", request->recipe, "TOML file").required();
  add_data(verb, *request);
  add_device(verb, *request);
  add_chunk(verb, *request);
  verb.add_option("--steps", *steps, "training steps to time").positive().shows_default();
  verb.example("driftless bench train recipes/sudoku-small.toml --data DATA --device cuda");
  verb.runs([request, steps] { bench_train(*request, *steps); });
}

}  // namespace driftless::cli
