// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/runner.h"

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <queue>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "driftless/base/files/file.h"
#include "driftless/study/recipe.h"
#include "driftless/study/record/results_file.h"

#include "tests/study/linear_reasoner.h"
#include "tests/study/share_intervals.h"
#include "tests/testing/expect_error.h"
#include "tests/testing/run_program.h"
#include "tests/testing/temp_dir.h"

namespace driftless::study {
namespace {

constexpr const char* kRecipe = R"(
[study]
name = "test"
[[rows]]
both = ["none", "mxint4"]
[[rows]]
both = "int8/tensor/static"
calibration_boards = 3
calibration_seed = [1, 2]
coherence = true
dynamics = true
[[rows]]
both = "mxint4"
l_cycles = 2
steps = 1
[[rows]]
both = "mxint4"
rollouts = 2
noise = 0.25
)";

class Runner : public ::testing::Test {
 protected:
  Runner() {
    for (int i = 0; i < 7; ++i)
      examples_.push_back(testing::example_of(static_cast<uint8_t>(i % 3), 1));
  }

  [[nodiscard]] StudyInput input() const {
    return {.name = "test",
            .config = testing::linear_config(),
            .task = task_,
            .examples = examples_,
            .calibration = testing::draw_from(examples_),
            .origin = testing::kOrigin,
            .batch = 2,
            .threads = threads_};
  }

  /// Records of all rows that `is_done` does not name, without their times.
  std::vector<Json> run(
      Communicator& communicator,
      const std::function<bool(const Json&)>& is_done = [](const Json&) { return false; }) const {
    const StudyInput study = input();
    const std::vector<Row> rows = rows_for(parse_recipe(kRecipe, "test"), study.config);
    const Backend backend = testing::linear_backend({.gain = 0.5}, {.gain = 0.5, .bias = {0, 3}});
    std::vector<Json> records;
    run_rows(rows, study, backend, communicator,
             {.is_done = is_done,
              .add =
                  [&](const Json& record) {
                    require_record(record, "record");
                    records.push_back(record);
                    records.back().erase("timing");
                  },
              .progress = [](const StudyProgress&) {}});
    return records;
  }

  task::Task task_ = testing::linear_task();
  std::vector<task::Example> examples_;
  int64_t threads_ = 1;
};

TEST_F(Runner, MakesOneSoundRecordPerRow) {
  const auto single = make_single();
  const std::vector<Json> records = run(*single);
  ASSERT_EQ(records.size(), 6u);
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].at("row"), i);
    testing::expect_share_intervals(records[i], "row " + std::to_string(i));
  }
  EXPECT_EQ(records[0].at("execution"), "float");
  EXPECT_EQ(records[0].at("exact"), records[0].at("float_exact"));
  // By hand (trajectory_test.cc): the displacement of z_L grows 3, 4.5, 5.25, 5.625.
  const std::vector<double> divergence =
      records[1].at("steps").at("latent_divergence").at("mean").get<std::vector<double>>();
  EXPECT_EQ(divergence, (std::vector<double>{3, 4.5, 5.25, 5.625}));
  EXPECT_EQ(records[1].at("verdict").at("latent"), "drifts");
  EXPECT_EQ(records[1].at("n"), 7);
  EXPECT_EQ(records[2].at("config").at("calibration").at("seed"), 1);
  EXPECT_FALSE(records[2].at("dynamics").is_null());
  EXPECT_FALSE(records[2].at("coherence").is_null());
  EXPECT_EQ(records[4].at("config").at("l_cycles"), 2);
  EXPECT_TRUE(records[5].at("verdict").is_null());
  EXPECT_FALSE(records[5].at("rollouts").is_null());
}

TEST_F(Runner, NativeRowsAreComparedWithTheirSimulation) {
  // Boards 0, 1, 2, ...: after four steps the simulated z_H is (token / 16, 5.6875), answer 2; the
  // native one has the bias in the other logit, answer 1, which the label wants.
  const Backend backend = {
      .make = [](const ReasonerRequest& request) -> std::unique_ptr<reason::Reasoner> {
        const testing::State bias = request.plan.layers.empty() ? testing::State{0, 0}
                                    : request.execution == Execution::Simulated
                                        ? testing::State{0, 3}
                                        : testing::State{3, 0};
        return std::make_unique<testing::LinearReasoner>(
            testing::LinearStep{.gain = 0.5, .bias = bias}, request.slots);
      },
      .calibrate = {}};
  StudyInput study = input();
  study.rows_together = 2;  // a pair stays together all the same
  Row row;
  Row simulated;
  simulated.scheme.weights = simulated.scheme.acts = quant::parse_quant_spec("mxint4");
  Row native = simulated;
  native.execution = Execution::Native;
  std::vector<Row> rows;
  for (const Row& each : {row, simulated, native, native})
    rows.push_back(resolve(each, study.config));
  std::vector<Json> records;
  run_rows(rows, study, backend, *make_single(),
           {.is_done = [](const Json&) { return false; },
            .add =
                [&](const Json& record) {
                  require_record(record, "record");
                  records.push_back(record);
                },
            .progress = [](const StudyProgress&) {}});
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[1].at("execution"), "simulated");
  EXPECT_EQ(records[1].at("config").at("backend"), "test");
  EXPECT_FALSE(records[1].contains("simulation"));
  EXPECT_EQ(records[2].at("execution"), "native");
  EXPECT_EQ(records[2].at("config").at("backend"), "native");
  const Json& paired = records[2].at("simulation").at("paired");
  EXPECT_EQ(paired.at("lost"), 0);
  EXPECT_EQ(paired.at("gained"), 7);
  EXPECT_EQ(paired.at("difference"), 1.0);
  EXPECT_DOUBLE_EQ(paired.at("p_value").get<double>(), 0.015625) << "2 / 2^7";
  EXPECT_EQ(records[2].at("simulation").at("same_answers").at("hits"), 0);
  EXPECT_FALSE(records[3].contains("simulation")) << "the row before it is native, too";
  Json damaged = records[2];
  damaged["simulation"]["paired"].erase("lost");
  EXPECT_ERROR(require_record(damaged, "f:1"), ErrorCode::BadFile, "simulation.paired");
}

TEST_F(Runner, RecordsDoNotDependOnTheNumberOfThreads) {
  const auto single = make_single();
  const std::vector<Json> records = run(*single);
  threads_ = 3;
  EXPECT_EQ(run(*single), records);
}

TEST_F(Runner, FinishedRowsAreNotComputedAgain) {
  const auto single = make_single();
  const std::vector<Json> all = run(*single);
  const auto is_done = [](const Json& key) { return key.at("config").at("weights") == "mxint4"; };
  const std::vector<Json> rest = run(*single, is_done);
  EXPECT_EQ(rest, (std::vector<Json>{all[0], all[2], all[3]}));
}

/// Ranks that are threads.
class Threads {
 public:
  explicit Threads(size_t size) : queues_(size) {}
  void push(size_t queue, std::vector<uint8_t> bytes) {
    const std::lock_guard lock(mutex_);
    queues_[queue].push(std::move(bytes));
    changed_.notify_all();
  }
  std::vector<uint8_t> pop(size_t queue) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !queues_[queue].empty(); });
    std::vector<uint8_t> bytes = queues_[queue].front();
    queues_[queue].pop();
    return bytes;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::queue<std::vector<uint8_t>>> queues_;
};

class ThreadRank : public Communicator {
 public:
  ThreadRank(int64_t rank, int64_t size, Threads& to_root, Threads& from_root)
      : rank_(rank), size_(size), to_root_(to_root), from_root_(from_root) {}
  [[nodiscard]] int64_t rank() const override { return rank_; }
  [[nodiscard]] int64_t size() const override { return size_; }
  void send(std::span<const uint8_t> bytes) override {
    to_root_.push(static_cast<size_t>(rank_), {bytes.begin(), bytes.end()});
  }
  [[nodiscard]] std::vector<uint8_t> receive(int64_t rank) override {
    return to_root_.pop(static_cast<size_t>(rank));
  }
  [[nodiscard]] std::vector<uint8_t> broadcast(std::vector<uint8_t> bytes) override {
    if (rank_ > 0) return from_root_.pop(static_cast<size_t>(rank_));
    for (int64_t rank = 1; rank < size_; ++rank) from_root_.push(static_cast<size_t>(rank), bytes);
    return bytes;
  }

 private:
  int64_t rank_;
  int64_t size_;
  Threads& to_root_;
  Threads& from_root_;
};

TEST_F(Runner, RanksMakeTheRecordsOfOneProcess) {
  const auto single = make_single();
  const std::vector<Json> alone = run(*single);
  for (const int64_t size : {2, 3, 5}) {
    Threads to_root(static_cast<size_t>(size));
    Threads from_root(static_cast<size_t>(size));
    std::vector<std::thread> others;
    for (int64_t rank = 1; rank < size; ++rank)
      others.emplace_back([&, rank] {
        ThreadRank communicator(rank, size, to_root, from_root);
        EXPECT_TRUE(run(communicator).empty());
      });
    ThreadRank root(0, size, to_root, from_root);
    EXPECT_EQ(run(root), alone) << size << " ranks";
    for (std::thread& other : others) other.join();
  }
}

TEST_F(Runner, RejectsBadInput) {
  const auto single = make_single();
  StudyInput study = input();
  const Backend backend = testing::linear_backend({}, {});
  const Sink sink{[](const Json&) { return false; }, [](const Json&) {},
                  [](const StudyProgress&) {}};
  Row row = rows_for(parse_recipe(kRecipe, "test"), study.config)[2];
  row.calibration_boards = 8;
  EXPECT_ERROR(run_rows(std::vector{row}, study, backend, *single, sink),
               ErrorCode::InvalidArgument, "got 8, expected 1 to 7");
  study.examples = {};
  EXPECT_ERROR(run_rows(std::vector{row}, study, backend, *single, sink),
               ErrorCode::InvalidArgument, "boards and batch; got 0");
}

class Results : public Runner {
 protected:
  void SetUp() override {
    const auto single = make_single();
    for (Json record : run(*single)) {
      record["timing"] = {{"wall_s", 1}, {"float_wall_s", 1}, {"ratio", nullptr}};
      records_.push_back(record);
    }
  }
  [[nodiscard]] std::string text() const { return driftless::testing::text_of(path_); }

  driftless::testing::TempDir dir_;
  std::filesystem::path path_ = dir_.path() / "results.jsonl";
  std::vector<Json> records_;
};

Json key_of(const Json& record) {
  return {{"study", record.at("study")},
          {"data", record.at("data")},
          {"config", record.at("config")},
          {"n", record.at("n")}};
}

TEST_F(Results, AreThereAfterReopening) {
  {
    ResultsFile file(path_, testing::kOrigin);
    EXPECT_ERROR(ResultsFile(path_, testing::kOrigin), ErrorCode::Io, "another process");
    for (const Json& record : {records_[0], records_[1]}) file.append(record);
  }
  const ResultsFile file(path_, testing::kOrigin);
  EXPECT_EQ(file.records().size(), 2u);
  ASSERT_NE(file.find(key_of(records_[1])), nullptr);
  EXPECT_EQ(file.find(key_of(records_[1]))->at("row"), 1);
  EXPECT_EQ(file.find(key_of(records_[2])), nullptr);
}

TEST_F(Results, AnUnfinishedLineIsRemoved) {
  std::string whole;
  {
    ResultsFile file(path_, testing::kOrigin);
    file.append(records_[0]);
    whole = text();
  }
  write_file_atomic(path_, whole + whole.substr(0, whole.size() / 2));
  ResultsFile file(path_, testing::kOrigin);
  EXPECT_EQ(text(), whole);
  file.append(records_[1]);
  EXPECT_EQ(text(), whole + records_[1].dump() + "\n");
}

TEST_F(Results, AFileThatIsNotOursIsRefusedAndNotTouched) {
  std::string record;
  {
    ResultsFile file(path_, testing::kOrigin);
    file.append(records_[0]);
    record = text();
  }
  for (const std::string& foreign :
       {std::string("{\"precious\": 1}"), std::string("{"), std::string("notes"),
        std::string("\n\nnotes"), record + "notes", record + "{\"schema\":10}"}) {
    write_file_atomic(path_, foreign);
    EXPECT_ERROR(ResultsFile(path_, testing::kOrigin), ErrorCode::BadFile,
                 "to start afresh, name another --out");
    EXPECT_EQ(text(), foreign);
  }
}

TEST_F(Results, AFirstRecordThatACrashCutShortIsRemoved) {
  { ResultsFile(path_, testing::kOrigin).append(records_[0]); }
  const std::string whole = text();
  write_file_atomic(path_, whole.substr(0, whole.size() / 2));
  ResultsFile file(path_, testing::kOrigin);
  EXPECT_EQ(text(), "");
  file.append(records_[0]);
  EXPECT_EQ(text(), whole);
}

TEST_F(Results, OfAnotherOriginAreRefused) {
  { ResultsFile(path_, testing::kOrigin).append(records_[0]); }
  Origin other = testing::kOrigin;
  other.model_sha256 = "cc";
  EXPECT_ERROR(ResultsFile(path_, other), ErrorCode::BadFile,
               "to start afresh, name another --out");
  other = testing::kOrigin;
  other.version = "2";
  EXPECT_ERROR(ResultsFile(path_, other), ErrorCode::BadFile, "another version");
  write_file_atomic(path_, std::string_view("{\"schema\": 1}\n"));
  EXPECT_ERROR(ResultsFile(path_, testing::kOrigin), ErrorCode::BadFile,
               "results.jsonl:1: no key 'study'");
  EXPECT_ERROR(ResultsFile(dir_.path(), testing::kOrigin), ErrorCode::Io, "cannot open");
}

TEST_F(Results, ADiskThatFillsUpLeavesNoHalfRecord) {
  ResultsFile file(path_, testing::kOrigin);
  file.append(records_[0]);
  const std::string before = text();
  // A limit on the size of files acts like a full disk: the next record fits in part only.
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  rlimit low = limit;
  low.rlim_cur = before.size() + 100;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  EXPECT_ERROR(file.append(records_[1]), ErrorCode::Io, "cannot append a record");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(text(), before);
  EXPECT_EQ(file.records().size(), 1u);
}

TEST_F(Results, AFileThatWasRemovedOrReplacedIsNoticed) {
  ResultsFile file(path_, testing::kOrigin);
  file.append(records_[0]);
  std::filesystem::remove(path_);
  EXPECT_ERROR(file.append(records_[1]), ErrorCode::Io, "removed or replaced");
  write_file_atomic(path_, "another's\n");
  EXPECT_ERROR(file.append(records_[1]), ErrorCode::Io, "removed or replaced");
  EXPECT_EQ(text(), "another's\n");
}

TEST_F(Results, SchemaFindsWhatIsWrong) {
  const auto code = ErrorCode::BadFile;
  const auto with = [&](auto&& change) {
    Json record = records_[1];
    change(record);
    return record;
  };
  const auto check = [](const Json& record) { require_record(record, "r"); };
  check(records_[1]);
  EXPECT_ERROR(check(with([](Json& r) { r.erase("paired"); })), code, "no key 'paired'");
  EXPECT_ERROR(check(with([](Json& r) { r["pared"] = 1; })), code, "did you mean 'paired'");
  EXPECT_ERROR(check(with([](Json& r) { r["n"] = "7"; })), code, "'n'; got");
  EXPECT_ERROR(check(with([](Json& r) { r["schema"] = 9; })), code, "schema; got 9");
  EXPECT_ERROR(check(with([](Json& r) { r["exact"]["share"] = 2; })), code, "within its interval");
  EXPECT_ERROR(check(with([](Json& r) { r["steps"]["exact"]["mean"].push_back(1); })), code,
               "got 5 values, expected 4");
  EXPECT_ERROR(check(with([](Json& r) { r["steps"].erase("fidelity"); })), code, "no metric");
  EXPECT_ERROR(check(Json(3)), code, "expected an object");
}

}  // namespace
}  // namespace driftless::study
