// SPDX-License-Identifier: Apache-2.0
// Float, simulated and native models through the C interface: opened, run slot by slot, packed.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/api/driftless_boards.h"
#include "driftless/api/driftless_c.h"

#include "tests/api/last_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless {
namespace {

using testing::last_error_has;

constexpr const char* kBoard =
    "3.....5....26.....9..5....37...4....5.49....1.2.....9..9.2..617.6.4....9..1....4.";

std::vector<uint8_t> tokens_of(const char* text) {
  std::vector<uint8_t> tokens(81);
  EXPECT_EQ(driftless_board_tokens("sudoku", text, tokens.data()), DRIFTLESS_OK);
  return tokens;
}

/// An engine that frees itself.
class Engine {
 public:
  explicit Engine(driftless_open_options options = {}, const char* path = DRIFTLESS_MODEL) {
    options.size = sizeof(options);
    options.threads = 1;
    EXPECT_EQ(driftless_open(path, &options, &engine_), DRIFTLESS_OK) << driftless_last_error();
  }
  ~Engine() { driftless_free(engine_); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  [[nodiscard]] driftless_engine* get() const { return engine_; }

  [[nodiscard]] nlohmann::json describe() const {
    char* text = nullptr;
    EXPECT_EQ(driftless_describe(engine_, &text), DRIFTLESS_OK);
    const auto json = nlohmann::json::parse(text);
    driftless_free_memory(text);
    return json;
  }

 private:
  driftless_engine* engine_ = nullptr;
};

driftless_open_options mxint4(const char* device) {
  driftless_open_options options = {};
  options.weights = options.acts = "mxint4";
  options.device = device;
  return options;
}

/// z_L, then z_H, then logits and halt logit of a slot.
std::vector<float> all_of(const driftless_engine* engine, int64_t slot) {
  const auto state =
      static_cast<size_t>(driftless_state_rows(engine) * driftless_state_columns(engine));
  const auto logits = static_cast<size_t>(driftless_cells(engine) * driftless_vocabulary(engine));
  std::vector<float> values(2 * state + logits + 1);
  EXPECT_EQ(driftless_states(engine, slot, &values[state], values.data()), DRIFTLESS_OK);
  EXPECT_EQ(driftless_logits(engine, slot, &values[2 * state], &values.back(), nullptr),
            DRIFTLESS_OK);
  return values;
}

TEST(CModels, SlotsStepAsSolveDoes) {
  const std::vector<uint8_t> tokens = tokens_of(kBoard);
  for (const char* const device : {"cpu", "native"}) {
    const Engine engine(mxint4(device));
    std::vector<uint8_t> answer(81);
    int64_t steps = 0;
    float halt = 0;
    const driftless_questions questions = {tokens.data(), nullptr, nullptr};
    const driftless_answers answers = {answer.data(), &steps, &halt};
    driftless_solve_options options = {};
    options.max_steps = 2;
    options.all_steps = 1;
    ASSERT_EQ(driftless_solve_all(engine.get(), &questions, 1, &options, &answers), DRIFTLESS_OK)
        << driftless_last_error();
    EXPECT_EQ(steps, 2);
    const int64_t slot = 3;
    ASSERT_EQ(driftless_reset(engine.get(), slot, tokens.data(), 81, 0, 0), DRIFTLESS_OK);
    for (int step = 0; step < 2; ++step)
      ASSERT_EQ(driftless_step(engine.get(), &slot, 1), DRIFTLESS_OK) << driftless_last_error();
    const std::vector<float> seen = all_of(engine.get(), slot);
    EXPECT_EQ(seen.back(), halt);
    const float* const logits = &seen[seen.size() - 1 - static_cast<size_t>(81 * 11)];
    for (size_t cell = 0; cell < 81; ++cell)
      for (size_t token = 0; token < 11; ++token)
        EXPECT_LE(logits[cell * 11 + token], logits[cell * 11 + answer[cell]]);
  }
}

TEST(CModels, StatesMoveToAnotherSlot) {
  const Engine engine;
  const std::vector<uint8_t> tokens = tokens_of(kBoard);
  const int64_t slots[2] = {0, 1};
  for (const int64_t slot : slots)
    ASSERT_EQ(driftless_reset(engine.get(), slot, tokens.data(), 81, 0, 0), DRIFTLESS_OK);
  ASSERT_EQ(driftless_step(engine.get(), slots, 1), DRIFTLESS_OK);
  const auto size = static_cast<size_t>(driftless_state_rows(engine.get()) *
                                        driftless_state_columns(engine.get()));
  std::vector<float> z_h(size), z_l(size);
  ASSERT_EQ(driftless_states(engine.get(), 0, z_h.data(), z_l.data()), DRIFTLESS_OK);
  ASSERT_EQ(driftless_set_states(engine.get(), 1, z_h.data(), z_l.data(), size), DRIFTLESS_OK);
  ASSERT_EQ(driftless_step(engine.get(), slots, 2), DRIFTLESS_OK);
  EXPECT_EQ(all_of(engine.get(), 0), all_of(engine.get(), 1));
  EXPECT_EQ(driftless_set_states(engine.get(), 1, z_h.data(), z_l.data(), size - 1),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_set_states(engine.get(), 1, nullptr, z_l.data(), size),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
}

TEST(CModels, SlotsRefuseWhatDoesNotFit) {
  const Engine engine;
  const std::vector<uint8_t> tokens = tokens_of(kBoard);
  const int64_t beyond = driftless_slots(engine.get());
  ASSERT_GT(beyond, 0);
  const auto refused = DRIFTLESS_ERROR_INVALID_ARGUMENT;
  EXPECT_EQ(driftless_reset(engine.get(), beyond, tokens.data(), 81, 0, 0), refused);
  EXPECT_EQ(driftless_reset(engine.get(), 0, tokens.data(), 80, 0, 0), refused);
  EXPECT_EQ(driftless_reset(engine.get(), 0, nullptr, 81, 0, 0), refused);
  EXPECT_EQ(driftless_reset(nullptr, 0, tokens.data(), 81, 0, 0), refused);
  const int64_t empty = 2;
  EXPECT_EQ(driftless_step(engine.get(), &empty, 1), refused);
  EXPECT_EQ(driftless_step(engine.get(), nullptr, 1), refused);
  EXPECT_EQ(driftless_step(engine.get(), nullptr, 0), DRIFTLESS_OK);
  EXPECT_EQ(driftless_step(engine.get(), &empty, SIZE_MAX), refused);
  float value = 0;
  EXPECT_EQ(driftless_states(engine.get(), empty, &value, nullptr), refused);
  EXPECT_EQ(driftless_logits(engine.get(), -1, &value, nullptr, nullptr), refused);
  EXPECT_EQ(driftless_logits(nullptr, 0, nullptr, nullptr, nullptr), refused);
  const driftless_questions questions = {};
  EXPECT_EQ(driftless_solve_all(engine.get(), &questions, 1, nullptr, nullptr), refused);
  const driftless_answers answers = {};
  EXPECT_EQ(driftless_solve_all(engine.get(), &questions, 1, nullptr, &answers), refused);
  EXPECT_EQ(driftless_solve_all(engine.get(), nullptr, 1, nullptr, &answers), refused);
  EXPECT_EQ(driftless_slots(nullptr), 0);
  EXPECT_EQ(driftless_state_rows(nullptr), 0);
  EXPECT_EQ(driftless_state_columns(nullptr), 0);
}

TEST(CModels, SeedsAndPuzzleRowsReachTheModel) {
  const Engine engine({}, "models/eqr-small.safetensors");
  std::vector<uint8_t> tokens = tokens_of(kBoard);
  tokens.insert(tokens.end(), tokens.begin(), tokens.end());
  const uint64_t seeds[2] = {1, 2};
  float halts[2] = {};
  driftless_solve_options options = {};
  options.max_steps = 1;
  options.all_steps = 1;
  const driftless_questions questions = {tokens.data(), nullptr, seeds};
  const driftless_answers answers = {nullptr, nullptr, halts};
  ASSERT_EQ(driftless_solve_all(engine.get(), &questions, 2, &options, &answers), DRIFTLESS_OK)
      << driftless_last_error();
  EXPECT_NE(halts[0], halts[1]) << "random states differ by their seed";
  const int64_t puzzles[2] = {0, 1L << 40};
  const driftless_questions strangers = {tokens.data(), puzzles, seeds};
  const int code = driftless_solve_all(engine.get(), &strangers, 2, &options, &answers);
  const bool has_table = engine.describe().at("config").at("puzzle_emb_len") > 0;
  EXPECT_EQ(code, has_table ? DRIFTLESS_ERROR_INVALID_ARGUMENT : DRIFTLESS_OK);
}

TEST(CModels, MemoryIsAsGoodAsAFile) {
  const std::vector<uint8_t> tokens = tokens_of(kBoard);
  std::ifstream file(DRIFTLESS_MODEL, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  driftless_engine* engine = nullptr;
  ASSERT_EQ(driftless_open_memory(bytes.data(), bytes.size(), nullptr, &engine), DRIFTLESS_OK)
      << driftless_last_error();
  const Engine other;
  for (driftless_engine* const each : {engine, other.get()}) {
    const int64_t slot = 0;
    ASSERT_EQ(driftless_reset(each, 0, tokens.data(), 81, 0, 0), DRIFTLESS_OK);
    ASSERT_EQ(driftless_step(each, &slot, 1), DRIFTLESS_OK);
  }
  EXPECT_EQ(all_of(engine, 0), all_of(other.get(), 0));
  driftless_free(engine);
  EXPECT_EQ(driftless_open_memory(bytes.data(), 100, nullptr, &engine), DRIFTLESS_ERROR_BAD_FILE);
  EXPECT_TRUE(last_error_has("memory"));
  EXPECT_EQ(driftless_open_memory(nullptr, 100, nullptr, &engine),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
}

TEST(CModels, PackedModelsAreTheirSource) {
  const testing::TempDir dir;
  const std::string path = (dir.path() / "packed.safetensors").string();
  driftless_open_options options = {};
  options.size = sizeof(options);
  options.weights = "mxint4";
  ASSERT_EQ(driftless_pack(DRIFTLESS_MODEL, &options, nullptr, path.c_str()), DRIFTLESS_OK)
      << driftless_last_error();
  driftless_open_options native = {};
  native.device = "native";
  const Engine packed(native, path.c_str());
  EXPECT_TRUE(packed.describe().at("is_packed").get<bool>());
  const Engine source(mxint4("native"));
  const std::vector<uint8_t> tokens = tokens_of(kBoard);
  for (driftless_engine* const each : {packed.get(), source.get()}) {
    const int64_t slot = 0;
    ASSERT_EQ(driftless_reset(each, 0, tokens.data(), 81, 0, 0), DRIFTLESS_OK);
    ASSERT_EQ(driftless_step(each, &slot, 1), DRIFTLESS_OK);
  }
  EXPECT_EQ(all_of(packed.get(), 0), all_of(source.get(), 0));
  EXPECT_EQ(driftless_pack(DRIFTLESS_MODEL, &options, "gptk", path.c_str()),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_pack(DRIFTLESS_MODEL, nullptr, nullptr, path.c_str()),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_pack(DRIFTLESS_MODEL, &options, nullptr, nullptr),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
}

TEST(CModels, DescribeSaysWhatRuns) {
  const auto described = Engine(mxint4("native")).describe();
  EXPECT_EQ(described.at("device"), "native");
  EXPECT_EQ(described.at("task"), "sudoku");
  EXPECT_EQ(described.at("max_steps"), 16);
  EXPECT_NE(described.at("scheme").get<std::string>().find("mxint4"), std::string::npos);
  EXPECT_EQ(described.at("config").at("seq_len"), 81);
  EXPECT_EQ(driftless_describe(nullptr, nullptr), DRIFTLESS_ERROR_INVALID_ARGUMENT);
}

TEST(CModels, PlansAndTypesOfFloatsAreTaken) {
  const testing::TempDir dir;
  const std::string path = (dir.path() / "plan.json").string();
  std::ofstream(path) << R"({"version": 1, "layers": {)"
                      << R"("L_level.layers.0.mlp.down_proj.weight": {"weights": "mxint4"}}})";
  driftless_open_options options = {};
  options.plan = path.c_str();
  const auto described = Engine(options).describe();
  EXPECT_NE(described.at("scheme").get<std::string>().find("mxint4"), std::string::npos);
  options = {};
  options.dtype = "bf16";
  EXPECT_EQ(Engine(options).describe().at("dtype"), "bf16");
}

/// A board that is being thought about.
struct Thought {
  driftless_engine* engine;
  const uint8_t* tokens;
  int calls = 0;
};

/// Every function that takes the engine's turn.
void expect_at_work(const Thought& thought) {
  const auto refused = [](int code) {
    EXPECT_EQ(code, DRIFTLESS_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(last_error_has("one at a time")) << driftless_last_error();
  };
  driftless_engine* const engine = thought.engine;
  const int64_t slot = 0;
  const float value = 0;
  std::vector<uint8_t> answer(81);
  char* text = nullptr;
  const driftless_questions questions = {thought.tokens, nullptr, nullptr};
  const driftless_answers answers = {answer.data(), nullptr, nullptr};
  refused(driftless_solve(engine, thought.tokens, 1, nullptr, answer.data(), nullptr));
  refused(driftless_solve_all(engine, &questions, 1, nullptr, &answers));
  refused(driftless_evaluate(engine, nullptr, nullptr, &text));
  refused(driftless_reset(engine, slot, thought.tokens, 81, 0, 0));
  refused(driftless_step(engine, &slot, 1));
  refused(driftless_states(engine, slot, nullptr, nullptr));
  refused(driftless_set_states(engine, slot, &value, &value, 1));
  refused(driftless_logits(engine, slot, nullptr, nullptr, nullptr));
}

TEST(CModels, ASecondCallIsRefusedFromACallbackAndFromAnotherThread) {
  const Engine engine;
  const std::vector<uint8_t> tokens = tokens_of(kBoard);
  std::vector<uint8_t> answer(81);
  Thought thought{engine.get(), tokens.data()};
  driftless_solve_options options = {};
  options.max_steps = 1;
  options.all_steps = 1;
  options.user = &thought;
  options.on_step = [](void* user, size_t, int64_t, const uint8_t*, float) {
    auto& seen = *static_cast<Thought*>(user);
    expect_at_work(seen);
    std::thread(expect_at_work, std::cref(seen)).join();
    ++seen.calls;
    return 0;
  };
  const auto solve = [&] {
    return driftless_solve(engine.get(), tokens.data(), 1, &options, answer.data(), nullptr);
  };
  EXPECT_EQ(solve(), DRIFTLESS_OK) << driftless_last_error();
  EXPECT_EQ(thought.calls, 1);
  options.on_step = nullptr;
  EXPECT_EQ(solve(), DRIFTLESS_OK) << "usable afterwards";
}

TEST(CModels, OpenSaysWhatIsWrong) {
  driftless_engine* engine = nullptr;
  const auto open = [&](driftless_open_options options) {
    if (options.size == 0) options.size = sizeof(options);
    return driftless_open(DRIFTLESS_MODEL, &options, &engine);
  };
  driftless_open_options options = {};
  options.weights = "mxint44";
  EXPECT_EQ(open(options), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("mxint4"));
  options = {};
  options.device = "gpu";
  EXPECT_EQ(open(options), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  options = {};
  options.device = "cuda";
  EXPECT_EQ(open(options), DRIFTLESS_ERROR_UNSUPPORTED);
  options = {};
  options.device = "native";
  EXPECT_EQ(open(options), DRIFTLESS_ERROR_INVALID_ARGUMENT) << "nothing is quantized";
  options = {};
  options.threads = -1;
  EXPECT_EQ(open(options), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  for (const int64_t number : {int64_t{65537}, INT64_MAX}) {
    options = {};
    options.threads = number;
    EXPECT_EQ(open(options), DRIFTLESS_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(last_error_has("threads; got"));
    options = {};
    options.slots = number;
    EXPECT_EQ(open(options), DRIFTLESS_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(last_error_has("slots; got"));
  }
  options = {};
  options.calibration_boards = -1;
  EXPECT_EQ(open(options), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  options = {};
  options.size = sizeof(options) + 1;
  EXPECT_EQ(open(options), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("size of the options"));
  EXPECT_EQ(driftless_open("/nowhere", nullptr, &engine), DRIFTLESS_ERROR_IO);
  EXPECT_EQ(driftless_open(nullptr, nullptr, &engine), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_open("README.md", nullptr, &engine), DRIFTLESS_ERROR_BAD_FILE);
  EXPECT_EQ(engine, nullptr);
}

}  // namespace
}  // namespace driftless
