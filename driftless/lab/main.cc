// SPDX-License-Identifier: Apache-2.0
// driftless-lab: train, evaluate, check and time on libtorch.
#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/file.h"
#include "driftless/base/text.h"
#include "driftless/lab/bench.h"
#include "driftless/lab/check.h"
#include "driftless/lab/device.h"
#include "driftless/lab/train_loop.h"
#include "driftless/lab/widen.h"
#include "driftless/store/checkpoint.h"
#include "driftless/task/sudoku/csv.h"

namespace driftless::lab {
namespace {

constexpr const char* kUsage =
    "usage: driftless-lab VERB [--flag value]...\n"
    "  train     --recipe FILE --data FOLDER --out FOLDER [--device cpu] [--from WEIGHTS]\n"
    "            [--resume FOLDER] [--seconds N] [--chunk BOARDS]\n"
    "  eval      --weights FILE --boards CSV [--count N] [--device cpu] [--chunk BOARDS]\n"
    "  check     [--device cpu]\n"
    "  bench     --recipe FILE --data FOLDER [--device cpu] [--steps N] [--chunk BOARDS]\n"
    "  disjoint  --recipe FILE --data FOLDER\n"
    "  widen     --weights FILE --out FILE [--seed N]\n";

class Flags {
 public:
  explicit Flags(std::span<char*> arguments, std::span<const std::string_view> known) {
    for (size_t i = 0; i < arguments.size(); i += 2) {
      const std::string_view flag = arguments[i];
      const std::string_view name = flag.starts_with("--") ? flag.substr(2) : flag;
      bool is_known = false;
      for (const std::string_view candidate : known) is_known = is_known || candidate == name;
      DRIFTLESS_REQUIRE(is_known && flag.starts_with("--"), ErrorCode::InvalidArgument,
                        "unknown flag '", flag, "'; did you mean '--", nearest_word(name, known),
                        "'?");
      DRIFTLESS_REQUIRE(i + 1 < arguments.size(), ErrorCode::InvalidArgument, flag,
                        ": expected a value");
      values_[std::string(name)] = arguments[i + 1];
    }
  }

  [[nodiscard]] std::string text(const std::string& name, const char* fallback = nullptr) const {
    const auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    DRIFTLESS_REQUIRE(fallback != nullptr, ErrorCode::InvalidArgument, "--", name,
                      ": it is required");
    return fallback;
  }
  [[nodiscard]] int64_t number(const std::string& name, const char* fallback = nullptr) const {
    const std::string value = text(name, fallback);
    const auto parsed = parse_int(value);
    DRIFTLESS_REQUIRE(parsed.has_value() && *parsed >= 0, ErrorCode::InvalidArgument, "--", name,
                      ": got '", value, "', expected a whole number");
    return *parsed;
  }

 private:
  std::map<std::string, std::string> values_;
};

void print_line(std::string_view line) {
  std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
  std::fflush(stdout);
}

Recipe read_recipe(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  return parse_recipe({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

BoardPool read_pool(const Recipe& recipe, const std::string& folder) {
  std::vector<PoolPart> parts;
  for (const Recipe::PoolFile& file : recipe.pool) {
    PoolPart part{task::sudoku::read_puzzles(folder + "/" + file.file), file.share};
    std::erase_if(part.puzzles, [&](const auto& p) { return p.rating < file.min_rating; });
    std::fprintf(stderr, "pool: %s, %zu boards, share %g\n", file.file.c_str(), part.puzzles.size(),
                 part.share);
    parts.push_back(std::move(part));
  }
  return BoardPool(std::move(parts));
}

LoadedRun starting_run(const Flags& flags, const Recipe& recipe, at::Device device) {
  const std::string resume = flags.text("resume", "");
  if (!resume.empty())
    return load_run(resume, Layout(recipe.model), activation_type(device), device);
  const std::string from = flags.text("from", "");
  Rng rng(static_cast<uint64_t>(recipe.seed));
  return {fresh_run(
              recipe,
              from.empty() ? initial_weights(recipe.model, rng) : load_weights(from, recipe.model),
              device),
          std::nullopt};
}

int run_train(const Flags& flags) {
  const at::Device device = find_device(flags.text("device", "cpu"));
  const StreamScope stream(device);
  const Recipe recipe = read_recipe(flags.text("recipe"));
  const std::string data = flags.text("data");
  std::vector<task::sudoku::Puzzle> boards =
      task::sudoku::read_puzzles(data + "/" + recipe.eval_file);
  if (static_cast<int64_t>(boards.size()) > recipe.eval_boards)
    boards.resize(static_cast<size_t>(recipe.eval_boards));
  std::fputs(describe_text(recipe).c_str(), stderr);
  Trainer trainer(recipe, read_pool(recipe, data), starting_run(flags, recipe, device),
                  {device, flags.number("chunk", "512")});
  LoopOptions options;
  options.folder = flags.text("out");
  options.max_seconds = static_cast<double>(flags.number("seconds", "1000000000"));
  options.eval_boards = boards;
  train(trainer, options, print_line);
  return 0;
}

int run_eval(const Flags& flags) {
  const at::Device device = find_device(flags.text("device", "cpu"));
  const StreamScope stream(device);
  const store::Checkpoint checkpoint = store::load_checkpoint(flags.text("weights"));
  const NamedTensors named = load_weights(flags.text("weights"), checkpoint.config);
  const at::Tensor flat = to_flat(Layout(checkpoint.config), named, "weights").to(device);
  const RecursiveNet net(checkpoint.config, {flat, flat.to(activation_type(device)), {}},
                         {named.at("H_init").to(device), named.at("L_init").to(device)});
  std::vector<task::sudoku::Puzzle> boards = task::sudoku::read_puzzles(flags.text("boards"));
  const auto count = static_cast<size_t>(flags.number("count", "1000000000"));
  if (boards.size() > count) boards.resize(count);
  EvaluateOptions options;
  options.steps = checkpoint.config.halt_max_steps;
  options.chunk = flags.number("chunk", "512");
  options.device = device;
  const Score score = evaluate(net, boards, options);
  const Interval interval = wilson_interval(score.exact, score.boards);
  const auto n = static_cast<double>(score.boards);
  std::printf("boards %lld, exact %.2f %% [%.2f, %.2f], cells %.2f %%\n",
              static_cast<long long>(score.boards), 100 * static_cast<double>(score.exact) / n,
              100 * interval.low, 100 * interval.high,
              100 * static_cast<double>(score.right_cells) /
                  (n * static_cast<double>(checkpoint.config.seq_len)));
  return 0;
}

int run_check(const Flags& flags) {
  const at::Device device = find_device(flags.text("device", "cpu"));
  const StreamScope stream(device);
  const bool all_passed = check_device(device, [](const CheckResult& result) {
    std::printf("%-4s %-52s error %.2e bound %.2e\n", result.passed() ? "ok" : "FAIL",
                result.name.c_str(), result.error, result.bound);
  });
  DRIFTLESS_REQUIRE(all_passed, ErrorCode::Numeric,
                    "check: the device computes something else than the CPU");
  return 0;
}

int run_bench(const Flags& flags) {
  const at::Device device = find_device(flags.text("device", "cpu"));
  const StreamScope stream(device);
  const Recipe recipe = read_recipe(flags.text("recipe"));
  const BenchShape shape{recipe.model, recipe.batch};
  bench_pieces(shape, device, [](const BenchResult& result) {
    std::printf("%-24s %8.3f ms %8.1f TFLOP/s\n", result.name.c_str(), result.ms,
                result.gflop / result.ms);
  });
  const int64_t steps = flags.number("steps", "40");
  Trainer trainer(recipe, read_pool(recipe, flags.text("data")),
                  starting_run(flags, recipe, device), {device, flags.number("chunk", "512")});
  for (int64_t i = 0; i < 10; ++i) trainer.step();
  trainer.take_tally();
  const auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < steps; ++i) trainer.step();
  const Tally tally = trainer.take_tally();
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - begin;
  const double ms = wall.count() / static_cast<double>(steps);
  std::printf("chunk %s: %.3f ms/step, %.1f TFLOP/s, answer loss %.4f\n",
              flags.text("chunk", "512").c_str(), ms, step_gflop(shape) / ms, tally.answer_loss);
  return 0;
}

int run_disjoint(const Flags& flags) {
  const Recipe recipe = read_recipe(flags.text("recipe"));
  const std::string data = flags.text("data") + "/";
  const auto held_out = task::sudoku::read_puzzles(data + recipe.eval_file);
  int64_t shared = 0;
  for (const Recipe::PoolFile& file : recipe.pool) {
    const auto pool = task::sudoku::read_puzzles(data + file.file);
    const int64_t equivalent = count_equivalent(pool, held_out);
    std::printf("%s: %zu boards, %lld equivalent to one of the %zu of %s\n", file.file.c_str(),
                pool.size(), static_cast<long long>(equivalent), held_out.size(),
                recipe.eval_file.c_str());
    shared += equivalent;
  }
  DRIFTLESS_REQUIRE(shared == 0, ErrorCode::BadConfig, "disjoint: got ", shared,
                    " training boards that are evaluation boards up to symmetry, expected 0");
  return 0;
}

int run_widen(const Flags& flags) {
  const std::string weights = flags.text("weights");
  const model::ModelConfig config = store::load_checkpoint(weights).config;
  Rng rng(static_cast<uint64_t>(flags.number("seed", "1")));
  save_weights(flags.text("out"), widened_config(config),
               widened_weights(config, load_weights(weights, config), rng), 0, store::DType::F32);
  return 0;
}

struct Verb {
  std::string_view name;
  std::vector<std::string_view> flags;
  int (*run)(const Flags&);
};

int run(std::span<char*> arguments) {
  const std::vector<Verb> verbs = {
      {"train",
       {"recipe", "data", "out", "device", "from", "resume", "seconds", "chunk"},
       run_train},
      {"eval", {"weights", "boards", "count", "device", "chunk"}, run_eval},
      {"check", {"device"}, run_check},
      {"bench", {"recipe", "data", "device", "steps", "chunk", "from", "resume"}, run_bench},
      {"disjoint", {"recipe", "data"}, run_disjoint},
      {"widen", {"weights", "out", "seed"}, run_widen}};
  for (const Verb& verb : verbs)
    if (!arguments.empty() && verb.name == arguments[0])
      return verb.run(Flags(arguments.subspan(1), verb.flags));
  std::fputs(kUsage, stderr);
  return 2;
}

}  // namespace
}  // namespace driftless::lab

int main(int argc, char** argv) {
  try {
    return driftless::lab::run(std::span(argv + 1, static_cast<size_t>(argc - 1)));
  } catch (const driftless::Error& error) {
    std::cerr << "driftless-lab: " << error.what() << "\n";
    return 10 + static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::cerr << "driftless-lab: " << error.what() << "\n";
    return 10 + static_cast<int>(driftless::ErrorCode::Internal);
  }
}
