// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/train_loop.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/text.h"

namespace driftless::lab {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// metrics.jsonl of a run folder.
class Metrics {
 public:
  /// Keeps the lines up to `step`: what a killed leg wrote after its last checkpoint comes again.
  Metrics(const std::filesystem::path& folder, int64_t step) : path_(folder / "metrics.jsonl") {
    std::filesystem::create_directories(folder);
    if (std::filesystem::is_regular_file(path_)) drop_after(step);
    file_.open(path_, std::ios::app);
    require_written();
  }

  /// The last step whose evaluation the kept lines hold; -1 for none.
  [[nodiscard]] int64_t evaluated() const { return evaluated_; }

  void write(const Json& line) {
    file_ << line.dump() << std::endl;
    require_written();
  }

 private:
  void drop_after(int64_t step) {
    const std::string text = read_text(path_);
    std::string kept;
    for (const std::string_view line : split(text, '\n')) {
      const Json parsed = Json::parse(line, nullptr, /*allow_exceptions=*/false);
      const bool has_step =
          parsed.is_object() && parsed.contains("step") && parsed["step"].is_number_integer();
      if (!has_step || parsed["step"] > step) continue;
      kept.append(line).push_back('\n');
      if (parsed.contains("kind") && parsed["kind"] == "eval") evaluated_ = parsed["step"];
    }
    if (kept != text) write_file_atomic(path_, kept);
  }

  void require_written() const {
    DRIFTLESS_REQUIRE(file_.good(), ErrorCode::Io, path_.string(),
                      ": cannot write; is the disk full?");
  }

  std::filesystem::path path_;
  std::ofstream file_;
  int64_t evaluated_ = -1;
};

class Loop {
 public:
  Loop(Trainer& trainer, const LoopOptions& options)
      : trainer_(trainer), options_(options), is_writer_(trainer.ranks().rank() == 0) {
    if (is_writer_) metrics_.emplace(options.folder, trainer.state().step);
    progress_.steps = trainer.recipe().lr.steps;
  }

  EndOfRun run() {
    end_.reason = unless_given_up([&] {
      if (lacks_evaluation()) evaluate();
      restart_rate();
      return steps();
    });
    log();
    save();
    if (end_.reason != Reason::Stopped)
      end_.reason = unless_given_up([&] {
        evaluate();
        return end_.reason;
      });
    end_.step = trainer_.state().step;
    end_.is_reporter = is_writer_;
    return end_;
  }

 private:
  template <class Work>
  static Reason unless_given_up(Work work) {
    try {
      return work();
    } catch (const GivenUp&) {
      return Reason::Stopped;
    }
  }

  /// Whether a run that starts or goes on here has to begin with one: the leg before may have given
  /// it up.
  bool lacks_evaluation() {
    const int64_t step = trainer_.state().step;
    return step % trainer_.recipe().eval_every == 0 && step < trainer_.recipe().lr.steps &&
           is_due(is_writer_ && metrics_->evaluated() != step);
  }

  Reason steps() {
    const Recipe& recipe = trainer_.recipe();
    if (is_due(options_.max_seconds <= 0)) return Reason::TimeLimit;
    while (trainer_.state().step < recipe.lr.steps) {
      trainer_.step();
      const int64_t step = trainer_.state().step;
      const bool is_log_step = step % recipe.log_every == 0;
      if (is_log_step) log();
      if (step % recipe.eval_every == 0 && step < recipe.lr.steps) evaluate();
      // Ranks must agree, which costs a wait; one rank asks itself at every step.
      if (trainer_.ranks().size() > 1 && !is_log_step) continue;
      if (is_due(seconds_since(last_save_) >= static_cast<double>(recipe.checkpoint_every))) {
        log();
        save();
      }
      if (is_due(options_.should_stop())) return Reason::Stopped;
      if (is_due(seconds_since(begin_) >= options_.max_seconds)) return Reason::TimeLimit;
    }
    return Reason::LastStep;
  }

  bool is_due(bool is_mine) { return trainer_.ranks().any(is_mine, trainer_.device()); }

  void restart_rate() {
    rate_begin_ = Clock::now();
    rate_step_ = trainer_.state().step;
  }

  void log() {
    const int64_t step = trainer_.state().step;
    const TrainingTally tally = trainer_.take_tally();
    if (tally.steps == 0) return;
    progress_.step = step;
    progress_.ms_per_step =
        1e3 * seconds_since(rate_begin_) / static_cast<double>(step - rate_step_);
    const double left = options_.max_seconds - seconds_since(begin_);
    progress_.seconds_left =
        std::clamp(progress_.ms_per_step / 1e3 * static_cast<double>(progress_.steps - step), 0.0,
                   std::max(left, 0.0));
    progress_.answer_loss = tally.answer_loss;
    progress_.exact_rate = tally.exact_rate;
    progress_.evaluated.reset();
    if (is_writer_) {
      metrics_->write({{"kind", "train"},
                       {"step", step},
                       {"seconds", seconds_since(begin_)},
                       {"ms_per_step", progress_.ms_per_step},
                       {"lr", rate_at(trainer_.recipe().lr, step)},
                       {"answer_loss", tally.answer_loss},
                       {"halting_loss", tally.halting_loss},
                       {"halted", tally.halted},
                       {"cell", tally.cell_rate},
                       {"exact", tally.exact_rate},
                       {"halt_right", tally.halt_rate},
                       {"mean_steps", tally.mean_steps}});
      options_.report(progress_);
    }
    restart_rate();
  }

  void evaluate() {
    if (options_.eval_boards.empty()) return;
    const auto begin = Clock::now();
    const task::Score score = trainer_.evaluate(options_.eval_boards);
    const task::Interval interval = score.exact.interval();
    progress_.step = trainer_.state().step;
    progress_.evaluated = end_.evaluated = score;
    if (is_writer_) {
      metrics_->write({{"kind", "eval"},
                       {"step", progress_.step},
                       {"seconds", seconds_since(begin_)},
                       {"boards", score.exact.n},
                       {"exact", score.exact.value()},
                       {"exact_low95", interval.low},
                       {"exact_high95", interval.high},
                       {"cell", score.cells.mean()},
                       {"eval_seconds", seconds_since(begin)}});
      options_.report(progress_);
    }
    restart_rate();
  }

  // Only after log(), which throws when something was not finite.
  void save() {
    trainer_.save(options_.folder);
    if (is_writer_) trainer_.export_model(options_.folder);
    last_save_ = Clock::now();
    restart_rate();
  }

  Trainer& trainer_;
  const LoopOptions& options_;
  bool is_writer_;
  std::optional<Metrics> metrics_;
  Progress progress_;
  EndOfRun end_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_save_ = begin_;
  Clock::time_point rate_begin_ = begin_;
  int64_t rate_step_ = 0;
};

}  // namespace

EndOfRun train(Trainer& trainer, const LoopOptions& options) {
  return Loop(trainer, options).run();
}

}  // namespace driftless::lab
