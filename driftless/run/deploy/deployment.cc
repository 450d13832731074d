// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/deploy/deployment.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "driftless/base/error.h"
#include "driftless/base/sha256.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/reason/boards.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/run/backend.h"
#include "driftless/run/model.h"
#include "driftless/run/study/study_rows.h"
#include "driftless/store/model_file.h"
#include "driftless/store/packed_model.h"

namespace driftless::run {
namespace {

using Clock = std::chrono::steady_clock;

double ms_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

void run_board(reason::Reasoner& reasoner, const reason::Board& board, const task::Task& task,
               const task::Example& example, const RaceOptions& options, DeploymentRow& row) {
  const Clock::time_point start = Clock::now();
  Clock::time_point latest = start;
  reason::Answer answer;
  reason::run(
      reasoner, std::span(&board, 1), {.halting = options.halting, .max_steps = options.max_steps},
      [&](int64_t, const reason::Answer& last) { answer = last; },
      [&](int64_t, const reason::Answer&) {
        const Clock::time_point now = Clock::now();
        row.step_ms.push_back(ms_between(latest, now));
        latest = now;
      });
  row.board_ms.push_back(ms_between(start, Clock::now()));
  row.mean_step_ms.push_back(ms_between(start, latest) / static_cast<double>(answer.steps));
  row.score.add(task.check(example, answer.tokens),
                task::matching_cells(example.label, answer.tokens), answer.steps);
  row.answers.push_back(std::move(answer));
}

bool is_same(const reason::Answer& a, const reason::Answer& b) {
  return a.tokens == b.tokens && a.steps == b.steps;
}

/// Answers must not depend on threads.
void require_same_answers(const std::vector<DeploymentRow>& rows) {
  for (const DeploymentRow& row : rows) {
    const auto first = std::find_if(rows.begin(), rows.end(), [&](const DeploymentRow& other) {
      return other.name == row.name;
    });
    const bool agrees = std::equal(row.answers.begin(), row.answers.end(), first->answers.begin(),
                                   first->answers.end(), is_same);
    DRIFTLESS_REQUIRE(agrees, ErrorCode::Internal, "bench: ", row.name, " answered differently on ",
                      row.threads, " and on ", first->threads, " threads");
  }
}

}  // namespace

std::unique_ptr<reason::Reasoner> load(const Deployment& deployment, int64_t threads) {
  const store::ModelFile model = store::open_model(deployment.file);
  return make_reasoner(model, quant::QuantPlan{},
                       {.device = deployment.device, .threads = threads, .slots = 1});
}

Deployment packed_deployment(const std::filesystem::path& file) {
  const bool is_native = native::why_simulated(store::load_packed(file)).empty();
  return {is_native ? "packed" : "packed, simulated", file, is_native ? "native" : "cpu"};
}

void write_int8(const std::filesystem::path& source, const std::filesystem::path& packed,
                const std::filesystem::path& out) {
  const store::Checkpoint checkpoint = require_float(store::open_model(source), source.string());
  const store::PackedModel model = store::load_packed(packed);
  DRIFTLESS_REQUIRE(model.config == checkpoint.config, ErrorCode::BadFile, source.string(),
                    ": another configuration than ", packed.string(),
                    "; expected the checkpoint that it comes from");
  const std::vector<quant::LinearLayer> layers = reason::linear_layers(checkpoint.config);
  const bool covers_heads = std::any_of(layers.begin(), layers.end(), [&](const auto& layer) {
    return !layer.is_in_block && model.plan.find(layer.name) != nullptr;
  });
  const quant::QuantPlan plan =
      quant::resolve({.weights = quant::parse_quant_spec("int8/channel"),
                      .acts = quant::parse_quant_spec("int8/token"),
                      .coverage = covers_heads ? quant::Coverage::Linear : quant::Coverage::Block,
                      .attention = model.plan.attention},
                     layers);
  store::save_packed(out, store::pack_model(checkpoint, plan));
}

std::filesystem::path find_source(const std::filesystem::path& packed) {
  constexpr uintmax_t kMostBytes = uintmax_t{1}
                                   << 30;  // hashing more would take longer than asking
  const std::string wanted = store::load_packed(packed).source_sha256;
  const std::filesystem::path folder =
      packed.has_parent_path() ? packed.parent_path() : std::filesystem::path(".");
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto size = entry.is_regular_file(error) ? entry.file_size(error) : kMostBytes;
    if (!error && size < kMostBytes && entry.path().extension() == ".safetensors")
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  const auto found = std::find_if(files.begin(), files.end(), [&](const auto& file) {
    return !wanted.empty() && sha256_of_file(file) == wanted;
  });
  return found == files.end() ? std::filesystem::path() : *found;
}

std::vector<DeploymentRow> race_deployments(std::span<const Contestant> contestants,
                                            const task::Task& task,
                                            std::span<const task::Example> examples,
                                            const RaceOptions& options) {
  std::vector<reason::Board> boards = reason::boards_of(examples, options.seed);
  std::vector<DeploymentRow> rows;
  for (const Contestant& contestant : contestants) {
    rows.push_back({.name = contestant.name, .threads = contestant.threads});
    DeploymentRow warm_up = rows.back();
    run_board(*contestant.reasoner, boards.front(), task, examples.front(),
              {.halting = options.halting, .max_steps = 1}, warm_up);
  }
  for (size_t i = 0; i < boards.size(); ++i) {
    for (size_t j = 0; j < rows.size(); ++j)
      run_board(*contestants[j].reasoner, boards[i], task, examples[i], options, rows[j]);
    if (options.watch) options.watch(static_cast<int64_t>(i) + 1);
  }
  require_same_answers(rows);
  return rows;
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  const auto index = static_cast<size_t>(std::max(rank, 1.0)) - 1;
  return values[std::min(index, values.size() - 1)];
}

double speedup(const DeploymentRow& row, const DeploymentRow& base) {
  std::vector<double> ratios;
  ratios.reserve(row.mean_step_ms.size());
  for (size_t i = 0; i < row.mean_step_ms.size(); ++i)
    ratios.push_back(base.mean_step_ms[i] / row.mean_step_ms[i]);
  return quantile(std::move(ratios), 0.5);
}

}  // namespace driftless::run
