// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train_loop.h"

#include <chrono>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"

namespace driftless::lab {
namespace {

using Json = nlohmann::ordered_json;

double seconds_between(std::chrono::steady_clock::time_point a,
                       std::chrono::steady_clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

class Loop {
 public:
  Loop(Trainer& trainer, const LoopOptions& options,
       const std::function<void(std::string_view)>& report)
      : trainer_(trainer), options_(options), report_(report) {
    std::filesystem::create_directories(options.folder);
    metrics_.open(options.folder / "metrics.jsonl", std::ios::app);
    DRIFTLESS_REQUIRE(metrics_.good(), ErrorCode::Io, options.folder.string(),
                      ": cannot write metrics.jsonl");
  }

  void run() {
    const Recipe& recipe = trainer_.recipe();
    evaluate();
    restart_rate();
    while (trainer_.state().step < recipe.lr.steps && elapsed() < options_.max_seconds) {
      trainer_.step();
      const int64_t step = trainer_.state().step;
      if (step % recipe.log_every == 0) log();
      if (step % recipe.eval_every == 0) evaluate();
      if (step % recipe.log_every == 0 &&
          seconds_between(last_save_, Clock::now()) >= static_cast<double>(recipe.checkpoint_every))
        save();
    }
    log();
    save();
    evaluate();
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] double elapsed() const { return seconds_between(begin_, Clock::now()); }

  void restart_rate() {
    rate_begin_ = Clock::now();
    rate_step_ = trainer_.state().step;
  }

  void write(Json line) {
    const std::string text = line.dump();
    metrics_ << text << std::endl;
    DRIFTLESS_REQUIRE(metrics_.good(), ErrorCode::Io, options_.folder.string(),
                      ": cannot write metrics.jsonl; is the disk full?");
    report_(text);
  }

  void log() {
    const int64_t step = trainer_.state().step;
    const Tally tally = trainer_.take_tally();
    if (tally.steps == 0) return;
    const double wall = seconds_between(rate_begin_, Clock::now());
    write({{"kind", "train"},
           {"step", step},
           {"seconds", elapsed()},
           {"ms_per_step", 1e3 * wall / static_cast<double>(step - rate_step_)},
           {"lr", rate_at(trainer_.recipe().lr, step)},
           {"answer_loss", tally.answer_loss},
           {"halting_loss", tally.halting_loss},
           {"halted", tally.halted},
           {"cell", tally.cell_rate},
           {"exact", tally.exact_rate},
           {"halt_right", tally.halt_rate},
           {"mean_steps", tally.mean_steps}});
    restart_rate();
  }

  void evaluate() {
    if (options_.eval_boards.empty()) return;
    const auto begin = Clock::now();
    const Score score = trainer_.evaluate(options_.eval_boards);
    const Interval interval = wilson_interval(score.exact, score.boards);
    const auto boards = static_cast<double>(score.boards);
    const auto cells = static_cast<double>(trainer_.recipe().model.seq_len);
    write({{"kind", "eval"},
           {"step", trainer_.state().step},
           {"seconds", elapsed()},
           {"boards", score.boards},
           {"exact", static_cast<double>(score.exact) / boards},
           {"exact_low95", interval.low},
           {"exact_high95", interval.high},
           {"cell", static_cast<double>(score.right_cells) / (boards * cells)},
           {"eval_seconds", seconds_between(begin, Clock::now())}});
    restart_rate();
  }

  // Only after log(), which throws when a loss was not finite.
  void save() {
    save_run(options_.folder, trainer_.state(), trainer_.carry());
    export_weights(options_.folder / "weights.safetensors", trainer_.recipe().model,
                   trainer_.state());
    last_save_ = Clock::now();
    restart_rate();
  }

  Trainer& trainer_;
  const LoopOptions& options_;
  const std::function<void(std::string_view)>& report_;
  std::ofstream metrics_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_save_ = begin_;
  Clock::time_point rate_begin_ = begin_;
  int64_t rate_step_ = 0;
};

}  // namespace

void train(Trainer& trainer, const LoopOptions& options,
           const std::function<void(std::string_view)>& report) {
  Loop(trainer, options, report).run();
}

}  // namespace driftless::lab
