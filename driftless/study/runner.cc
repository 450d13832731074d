// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/runner.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "driftless/base/error.h"
#include "driftless/reason/boards.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/reason/readout.h"
#include "driftless/study/lockstep.h"
#include "driftless/study/rollouts.h"

namespace driftless::study {
namespace {

/// Whether the same observation of the same boards serves both rows.
bool share_calibration(const Row& a, const Row& b) {
  Row alike = b;
  alike.scheme.weights = a.scheme.weights;
  alike.scheme.acts = a.scheme.acts;
  alike.scheme.bias = a.scheme.bias;
  alike.scheme.sharing = a.scheme.sharing;
  return alike.scheme == a.scheme && a.h_cycles == b.h_cycles && a.l_cycles == b.l_cycles &&
         a.steps == b.steps && a.calibration_boards == b.calibration_boards &&
         a.calibration_seed == b.calibration_seed;
}

/// Whether a row is the simulation of a native one.
bool simulates(const Row& row, const Row& native) {
  Row alike = native;
  alike.execution = Execution::Simulated;
  return native.execution == Execution::Native && row == alike;
}

/// Whatever turns a batch of boards into one result per row.
using BatchFunction = std::function<std::vector<BatchResult>(
    std::span<const task::Example> examples, int64_t first_board)>;

/// Tallies and times of one batch as bytes, one block per row, for another process.
std::vector<uint8_t> pack(const std::vector<BatchResult>& results) {
  nlohmann::json packed = nlohmann::json::array();
  for (const BatchResult& result : results)
    packed.push_back(
        {nlohmann::json::binary(result.tally.to_bytes()), result.wall_s, result.float_wall_s});
  return nlohmann::json::to_cbor(packed);
}

std::vector<BatchResult> unpack(std::span<const uint8_t> bytes) {
  std::vector<BatchResult> results;
  for (const nlohmann::json& packed : nlohmann::json::from_cbor(bytes))
    results.push_back({.tally = Tally::from_bytes(packed.at(0).get_binary()),
                       .wall_s = packed.at(1),
                       .float_wall_s = packed.at(2)});
  return results;
}

class StudyRun {
 public:
  StudyRun(const StudyInput& input, const Backend& backend, Communicator& communicator,
           const Sink& sink)
      : input_(input), backend_(backend), communicator_(communicator), sink_(sink) {}

  void run(std::span<const Row> rows) {
    std::vector<RowResult> pending = unfinished(rows);
    std::vector<Row> wanted;
    wanted.reserve(pending.size());
    for (const RowResult& result : pending) wanted.push_back(result.row);
    const std::vector<quant::QuantPlan> plans = plans_of(wanted, input_, backend_);
    for (size_t i = 0; i < pending.size(); ++i) pending[i].plan = plans[i];
    progress_.total = std::ssize(pending) * std::ssize(input_.examples);
    for (size_t first = 0; first < pending.size();) {
      const size_t count = group_size(pending, first);
      run_group(std::span(pending).subspan(first, count));
      first += count;
    }
  }

 private:
  [[nodiscard]] bool is_root() const { return communicator_.rank() == 0; }

  /// Rank 0 looks at the finished ones and tells everybody.
  std::vector<RowResult> unfinished(std::span<const Row> rows) {
    std::vector<RowResult> pending;
    pending.reserve(rows.size());
    std::vector<uint8_t> is_wanted;
    is_wanted.reserve(rows.size());
    for (const Row& row : rows) {
      pending.push_back({.study = input_.name,
                         .index = input_.first_row + std::ssize(pending),
                         .row = row,
                         .boards = std::ssize(input_.examples),
                         .batch = input_.batch,
                         .seed = input_.seed,
                         .config = vary(input_.config, row)});
      is_wanted.push_back(
          is_root() && !sink_.is_done(record_key(input_.origin, pending.back())) ? 1 : 0);
    }
    is_wanted = communicator_.broadcast(is_wanted);
    std::erase_if(pending, [&](const RowResult& result) {
      return is_wanted[static_cast<size_t>(result.index - input_.first_row)] == 0;
    });
    return pending;
  }

  [[nodiscard]] size_t group_size(const std::vector<RowResult>& pending, size_t first) const {
    const auto can_join = [&](const RowResult& other) {
      const Row& row = pending[first].row;
      return row.rollouts == 0 && other.row.rollouts == 0 &&
             other.config == pending[first].config && other.row.steps == row.steps;
    };
    size_t count = 1;
    const auto has_room = [&] {
      return count < static_cast<size_t>(input_.rows_together) ||
             simulates(pending[first + count - 1].row, pending[first + count].row);
    };
    while (first + count < pending.size() && has_room() && can_join(pending[first + count]))
      ++count;
    return count;
  }

  void run_group(std::span<RowResult> group) {
    std::string& names = progress_.rows;
    names.clear();
    for (const RowResult& result : group)
      names += (names.empty() ? "" : " | ") + quant::to_string(result.row.scheme.weights) + " " +
               quant::to_string(result.row.scheme.acts);
    run_batches(group,
                group[0].row.rollouts > 0 ? rollout_function(group[0]) : lockstep_function(group));
    if (!is_root()) return;
    for (const RowResult& result : group) sink_.add(make_record(input_.origin, result));
  }

  BatchFunction lockstep_function(std::span<const RowResult> group) {
    std::vector<Subject> subjects;
    subjects.reserve(group.size());
    for (const RowResult& result : group)
      subjects.push_back({.plan = result.plan,
                          .layer_boards = result.row.layer_boards,
                          .coherence = result.row.coherence,
                          .dynamics = result.row.dynamics,
                          .execution = result.row.execution});
    auto lockstep =
        std::make_shared<Lockstep>(options_of(group[0]), input_.task, backend_, subjects);
    return [lockstep](std::span<const task::Example> examples, int64_t first_board) {
      return lockstep->run(examples, first_board);
    };
  }

  /// Noisy trajectories of the quantized model beside one clean one of the float model.
  BatchFunction rollout_function(const RowResult& result) {
    const std::shared_ptr<reason::Reasoner> noisy =
        backend_.make({.config = result.config,
                       .plan = result.plan,
                       .slots = input_.batch,
                       .execution = result.row.execution});
    const std::shared_ptr<reason::Reasoner> clean =
        backend_.make({.config = result.config, .slots = input_.batch});
    return [this, noisy, clean, row = result.row](std::span<const task::Example> examples,
                                                  int64_t first_board) {
      return std::vector<BatchResult>{run_noisy(*noisy, *clean, row, examples, first_board)};
    };
  }

  BatchResult run_noisy(reason::Reasoner& noisy, reason::Reasoner& clean, const Row& row,
                        std::span<const task::Example> examples, int64_t first_board) const;

  [[nodiscard]] LockstepOptions options_of(const RowResult& result) const {
    return {.config = result.config,
            .steps = result.row.steps,
            .batch = input_.batch,
            .seed = input_.seed,
            .threads = input_.threads};
  }

  /// Every process takes each size()-th batch; rank 0 adds the results up in the order of the
  /// boards, so that sums are the same to the bit.
  void run_batches(std::span<RowResult> group, const BatchFunction& run_batch) {
    const int64_t boards = std::ssize(input_.examples);
    int64_t batch = 0;
    for (int64_t first = 0; first < boards; first += input_.batch, ++batch) {
      const int64_t owner = batch % communicator_.size();
      const int64_t count = std::min(input_.batch, boards - first);
      std::vector<BatchResult> results;
      if (owner == communicator_.rank())
        results = run_batch(
            input_.examples.subspan(static_cast<size_t>(first), static_cast<size_t>(count)), first);
      if (!is_root()) {
        if (!results.empty()) communicator_.send(pack(results));
        continue;
      }
      if (owner != 0) results = unpack(communicator_.receive(owner));
      for (size_t i = 0; i < group.size(); ++i) {
        group[i].tally.merge(results[i].tally);
        group[i].wall_s += results[i].wall_s;
        group[i].float_wall_s += results[i].float_wall_s;
      }
      progress_.done += count * std::ssize(group);
      sink_.progress(progress_);
    }
  }

  const StudyInput& input_;
  const Backend& backend_;
  Communicator& communicator_;
  const Sink& sink_;
  StudyProgress progress_{};
};

BatchResult StudyRun::run_noisy(reason::Reasoner& noisy, reason::Reasoner& clean, const Row& row,
                                std::span<const task::Example> examples,
                                int64_t first_board) const {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  };
  const std::vector<reason::Board> boards = reason::boards_of(examples, input_.seed, first_board);
  std::vector<int64_t> slots(boards.size());
  std::iota(slots.begin(), slots.end(), 0);
  const auto start = Clock::now();
  for (const int64_t slot : slots) clean.reset(slot, boards[static_cast<size_t>(slot)]);
  for (int64_t step = 0; step < row.steps; ++step) clean.step(slots);
  const auto middle = Clock::now();
  RolloutBatch batch{.examples = examples, .boards = boards, .first_board = first_board};
  for (const int64_t slot : slots) {
    const std::span<const float> latent = clean.states(slot).l;
    batch.float_latent.emplace_back(latent.begin(), latent.end());
    batch.float_answers.push_back(reason::answer_of(clean.read(slot), clean.config().vocab_size));
  }
  BatchResult result;
  run_rollouts(noisy, input_.task, batch,
               {.rollouts = row.rollouts,
                .noise = row.noise,
                .seed = static_cast<uint64_t>(row.noise_seed),
                .steps = row.steps},
               result.tally);
  result.float_wall_s = seconds(start, middle);
  result.wall_s = seconds(middle, Clock::now());
  return result;
}

}  // namespace

std::vector<quant::QuantPlan> plans_of(std::span<const Row> rows, const StudyInput& input,
                                       const Backend& backend) {
  std::vector<quant::QuantPlan> plans;
  plans.reserve(rows.size());
  for (const Row& row : rows)
    plans.push_back(
        row.plan ? *row.plan
                 : quant::resolve(row.scheme, reason::linear_layers(vary(input.config, row))));
  for (size_t first = 0; first < rows.size(); ++first) {
    if (!plans[first].needs_calibration()) continue;
    const Row& row = rows[first];
    CalibrationRequest request{.config = vary(input.config, row), .steps = row.steps};
    std::vector<size_t> alike;
    for (size_t i = first; i < rows.size(); ++i) {
      if (!plans[i].needs_calibration() || !share_calibration(row, rows[i])) continue;
      alike.push_back(i);
      request.plans.push_back(plans[i]);
    }
    const std::vector<reason::Board> boards =
        input.calibration(row.calibration_boards, static_cast<uint64_t>(row.calibration_seed));
    request.boards = boards;
    const std::vector<quant::QuantPlan> calibrated = backend.calibrate(request);
    for (size_t i = 0; i < alike.size(); ++i) plans[alike[i]] = calibrated[i];
  }
  return plans;
}

void run_rows(std::span<const Row> rows, const StudyInput& input, const Backend& backend,
              Communicator& communicator, const Sink& sink) {
  DRIFTLESS_REQUIRE(!input.examples.empty() && input.batch >= 1, ErrorCode::InvalidArgument,
                    "study: boards and batch; got ", input.examples.size(), " and ", input.batch,
                    ", expected at least 1");
  StudyRun(input, backend, communicator, sink).run(rows);
}

}  // namespace driftless::study
