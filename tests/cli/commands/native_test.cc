// SPDX-License-Identifier: Apache-2.0
// driftless quantize, and what runs packed models: eval, solve, info, with and without --native.
#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"
#include "driftless/model/presets.h"
#include "driftless/store/random_checkpoint.h"

#include "tests/cli/program.h"
#include "tests/cli/tiny_model.h"

namespace driftless {
namespace {

using cli_testing::driftless;
using cli_testing::expect_failure;
using cli_testing::kBoard;
using testing::Outcome;
using testing::TempDir;

class NativeCommands : public ::testing::Test {
 protected:
  NativeCommands() { write_file_atomic(file("boards.txt"), kBoard + "\n"); }
  std::string file(const std::string& name) const { return (dir_.path() / name).string(); }
  /// The predictions of eval on a few boards.
  std::string predictions(const std::string& model, const std::string& flags) const {
    const Outcome outcome = driftless("eval " + model + " --steps 3 --data " + file("boards.txt") +
                                      " --predictions " + file("p.jsonl") + " " + flags);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return testing::text_of(file("p.jsonl"));
  }
  TempDir dir_;
};

TEST_F(NativeCommands, PackedNativeSimulatedAndSourceAgree) {
  const Outcome packed =
      driftless("quantize " DRIFTLESS_MODEL " " + file("packed.safetensors") + " --weights mxint4");
  ASSERT_EQ(packed.exit_code, 0) << packed.err;
  EXPECT_NE(packed.out.find("weights mxint4,window=4, acts mxint4,window=4"), std::string::npos)
      << packed.out;
  const auto native = predictions(file("packed.safetensors"), "--native");
  EXPECT_EQ(native, predictions(DRIFTLESS_MODEL, "--native --weights mxint4 --acts mxint4"));
  // Logits of the float heads are summed in another order; the digits are the same.
  const auto digits = [](const std::string& lines) { return lines.substr(0, 200); };
  EXPECT_EQ(digits(native), digits(predictions(file("packed.safetensors"), "")));
  const Outcome info = driftless("info " + file("packed.safetensors"));
  EXPECT_EQ(info.exit_code, 0) << info.err;
  EXPECT_NE(info.out.find("4.25 bits an element"), std::string::npos) << info.out;
  EXPECT_NE(info.out.find("native      runs on"), std::string::npos) << info.out;
}

TEST_F(NativeCommands, ScalesWithFractionsArePackedSimulatedAndNative) {
  const std::string format = "int4/block32,scale=e5m3";
  const std::string scheme = " --weights " + format + " --acts " + format;
  const std::string packed = file("packed.safetensors");
  const Outcome outcome = driftless("quantize " DRIFTLESS_MODEL " " + packed + scheme);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("native: yes"), std::string::npos) << outcome.out;
  const std::string windowed = " --weights " + format + ",window=0 --acts " + format + ",window=0";
  EXPECT_EQ(predictions(packed, ""), predictions(DRIFTLESS_MODEL, windowed));
  EXPECT_EQ(predictions(packed, "--native"), predictions(DRIFTLESS_MODEL, "--native" + scheme));
  // Logits of the float heads are summed in another order; the digits are the same.
  EXPECT_EQ(predictions(packed, "--native").substr(0, 200), predictions(packed, "").substr(0, 200));
  const Outcome info = driftless("info " + packed);
  EXPECT_NE(info.out.find("int4/block32,scale=e5m3,window=0, 4.2"), std::string::npos) << info.out;
}

/// A search that takes a second, on few boards.
std::string search_command(const std::string& model, const std::string& out) {
  return "quantize " + model + " --out " + out + " --calibration-data models/demo-sudoku.csv";
}

TEST_F(NativeCommands, BitsAreSearchedFor) {
  const std::string packed = file("packed.safetensors");
  cli_testing::save_tiny_model(file("model.safetensors"), 1);
  const std::string command = search_command(file("model.safetensors"), packed);
  const Outcome outcome = driftless(command + " --bits 4.5");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* step : {"  mxint4\n", "scale=e5m3\n", "scale=s4m3\n", "  clip\n", "  gptq\n",
                           "  descent\n", "mean bits: weights 4.", "native: yes"})
    EXPECT_NE(outcome.out.find(step), std::string::npos) << step << outcome.out;
  EXPECT_NE(outcome.out.find("kept"), std::string::npos) << outcome.out;
  const Outcome info = driftless("info " + packed);
  EXPECT_NE(info.out.find("search on 64 boards of models/demo-sudoku.csv, seed 1"),
            std::string::npos)
      << info.out;
  EXPECT_FALSE(std::filesystem::exists(packed + ".search.jsonl"));
  for (const char* bits : {"1", "0", "-3", "nan", "5.25"})
    expect_failure(driftless(command + " --bits " + bits), 10, "2.25");
  expect_failure(driftless(command + " --bits 4.25 --weights mxint4"), 10, "--bits looks for");
}

TEST_F(NativeCommands, ASearchThatIsEndedGoesOnToTheSameBytes) {
  cli_testing::save_tiny_model(file("model.safetensors"), 1);
  const auto command = [&](const std::string& out) {
    return DRIFTLESS_PROGRAM " " + search_command(file("model.safetensors"), file(out)) +
           " --bits 4.25";
  };
  ASSERT_EQ(testing::run_program(command("whole")).exit_code, 0);
  const std::string journal = file("ended.search.jsonl");
  for (const std::string signal : {"KILL", "TERM"}) {
    // The shell waits for something that was tried, then ends the search.
    const std::string before = testing::text_of(journal);
    const Outcome ended = testing::run_program(
        "(" + command("ended") + " & job=$!; until test $(wc -l < " + journal + " || echo 0) -gt " +
        std::to_string(std::ranges::count(before, '\n') + 2) +
        " || ! kill -0 $job; do :; done 2>/dev/null; kill -" + signal + " $job; wait $job)");
    EXPECT_EQ(ended.exit_code, signal == "KILL" ? 137 : 143) << ended.err;
    EXPECT_FALSE(std::filesystem::exists(file("ended")));
    EXPECT_TRUE(testing::text_of(journal).starts_with(before));
  }
  expect_failure(
      driftless(search_command(file("model.safetensors"), file("ended")) + " --bits 3.25"), 12,
      "bits: got 4.25, expected 3.25");
  const Outcome resumed = testing::run_program(command("ended"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(testing::text_of(file("ended")), testing::text_of(file("whole")));
  EXPECT_FALSE(std::filesystem::exists(journal));
  EXPECT_EQ(dir_.entry_count(), 4) << "boards, the model, and two packed ones";
}

TEST_F(NativeCommands, ErrorFeedbackIsPackedAndRecorded) {
  const std::string packed = file("packed.safetensors");
  cli_testing::save_tiny_model(file("model.safetensors"), 1);
  const auto quantize = [&](const std::string& flags) {
    return driftless("quantize " + file("model.safetensors") + " " + packed +
                     " --weights mxint4 --calibration-boards 2 " + flags);
  };
  ASSERT_EQ(quantize("").exit_code, 0);
  const auto nearest = testing::text_of(packed);
  for (const std::string method : {"gptq", "gptaq", "descent"}) {
    const Outcome outcome = quantize("--method " + method);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::string said =
        method + ": second moments of 2 generated boards, seed 1; damping 0.01";
    EXPECT_NE(outcome.out.find(said), std::string::npos) << outcome.out;
    EXPECT_NE(testing::text_of(packed), nearest);
    const Outcome info = driftless("info " + packed);
    EXPECT_NE(info.out.find("rounded     " + said), std::string::npos) << info.out;
    EXPECT_NE(info.out.find("native      runs on"), std::string::npos) << info.out;
    EXPECT_FALSE(predictions(packed, "--native").empty());
  }
  expect_failure(quantize("--method gptk"), 2, "did you mean 'gptq'");
  EXPECT_EQ(quantize("--method clip,gptq").exit_code, 0);
  EXPECT_NE(driftless("info " + packed).out.find("clip,gptq: second"), std::string::npos);
  expect_failure(quantize("--method fit"), 10, "expected blocks with scale=");
  const std::string blocks = " --weights int4/block32,scale=e5m3 --acts int4/block32,scale=e5m3";
  ASSERT_EQ(
      driftless("quantize " + file("model.safetensors") + " " + packed + blocks + " --method fit")
          .exit_code,
      0);
  EXPECT_NE(driftless("info " + packed).out.find("rounded     fit"), std::string::npos);
}

TEST_F(NativeCommands, PackedModelsTakeOtherActivationsAndKeepTheirWeights) {
  cli_testing::save_tiny_model(file("model.safetensors"), 1);
  const auto quantize = [&](const std::string& from, const std::string& to,
                            const std::string& flags) {
    return driftless("quantize " + file(from) + " --out " + file(to) + flags);
  };
  ASSERT_EQ(quantize("model.safetensors", "inputs", " --weights mxint4").exit_code, 0);
  const Outcome outcome = quantize("inputs", "changes", " --acts mxint4 --delta");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("acts mxint4,window=4, coverage block, delta"), std::string::npos);
  ASSERT_EQ(
      quantize("model.safetensors", "direct", " --weights mxint4 --acts mxint4 --delta").exit_code,
      0);
  EXPECT_EQ(predictions(file("changes"), "--native"), predictions(file("direct"), "--native"));
  expect_failure(quantize("inputs", "other", " --acts mxint4 --method clip"), 10,
                 "is packed and keeps its weights");
  expect_failure(quantize("inputs", "other", ""), 10, "expected --acts");
  EXPECT_FALSE(std::filesystem::exists(file("other")));
}

TEST_F(NativeCommands, AttentionInInt8IsPackedSimulatedAndNative) {
  model::ModelConfig config = model::find_preset("trm-sudoku-att").config;
  config.hidden_size = config.puzzle_emb_ndim = 64;
  config.num_heads = 2;
  store::save_checkpoint(file("model.safetensors"), store::random_checkpoint(config, 1));
  const std::string flags = " --weights mxint4 --acts mxint4 --attention int8";
  const Outcome packed =
      driftless("quantize " + file("model.safetensors") + " " + file("packed.safetensors") + flags);
  ASSERT_EQ(packed.exit_code, 0) << packed.err;
  EXPECT_NE(packed.out.find("attention int8"), std::string::npos) << packed.out;
  const auto native = predictions(file("packed.safetensors"), "--native");
  EXPECT_EQ(native, predictions(file("model.safetensors"), "--native" + flags));
  const auto digits = [](const std::string& lines) { return lines.substr(0, 200); };
  EXPECT_EQ(digits(native), digits(predictions(file("packed.safetensors"), "")));
  const std::string data = " --steps 2 --data " + file("boards.txt");
  const Outcome ladder = driftless("ladder " + file("model.safetensors") +
                                   " --native --attention int8 --schemes none mxint4" + data);
  ASSERT_EQ(ladder.exit_code, 0) << ladder.err;
  EXPECT_NE(ladder.out.find("attention int8"), std::string::npos) << ladder.out;
  EXPECT_NE(ladder.out.find("1 of 1 answers the same"), std::string::npos) << ladder.out;
  const Outcome own = driftless("ladder " + file("packed.safetensors") + " --source " +
                                file("model.safetensors") + " --native" + data);
  ASSERT_EQ(own.exit_code, 0) << own.err;
  EXPECT_NE(own.out.find("attention int8"), std::string::npos) << own.out;
  expect_failure(driftless("eval " + file("packed.safetensors") + " --attention int8" + data), 10,
                 "quantized already");
  expect_failure(driftless("eval " + file("model.safetensors") + " --attention int9" + data), 2,
                 "did you mean 'int8'");
  expect_failure(driftless("eval " DRIFTLESS_MODEL " --attention int8" + data), 10,
                 "attention: the model mixes tokens without it");
}

TEST_F(NativeCommands, SolveTheSampleWithTheBundledPackedModel) {
  const Outcome outcome = driftless("solve --native --json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("steps"), std::string::npos) << outcome.out;
}

TEST_F(NativeCommands, LaddersCompareFloatSimulatedAndNative) {
  const std::string flags = " --native --steps 2 --data " + file("boards.txt");
  const Outcome packed =
      driftless("ladder " DRIFTLESS_PACKED_MODEL " --source " DRIFTLESS_MODEL + flags);
  ASSERT_EQ(packed.exit_code, 0) << packed.err;
  for (const char* execution : {" float ", " simulated ", " native "})
    EXPECT_NE(packed.out.find(execution), std::string::npos) << packed.out;
  EXPECT_NE(packed.out.find("1 of 1 answers the same"), std::string::npos) << packed.out;
  const Outcome source =
      driftless("ladder " DRIFTLESS_MODEL " --schemes none mxint4,rule=mse:mxint4" + flags);
  ASSERT_EQ(source.exit_code, 0) << source.err;
  const auto notes = [](const std::string& text) {
    return text.substr(text.find("native less simulated"));
  };
  EXPECT_EQ(notes(packed.out), notes(source.out)) << "the packed model is a row of its source";
}

TEST_F(NativeCommands, LaddersCompareATrainedModelWithItsStart) {
  const auto models = std::filesystem::path(DRIFTLESS_MODEL).parent_path();
  const std::string trained = (models / "sudoku-small-mxint4-qat.safetensors").string();
  const std::string flags = " --steps 2 --data " + file("boards.txt");
  const Outcome outcome = driftless("ladder " + trained + " --start " DRIFTLESS_MODEL + flags);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* execution : {" float ", " simulated "})
    EXPECT_NE(outcome.out.find(execution), std::string::npos) << outcome.out;
  expect_failure(driftless("ladder " + trained + " --source " DRIFTLESS_MODEL + flags), 12,
                 "--start");
  const std::string learned = (models / "sudoku-small-int4-raq.safetensors").string();
  const Outcome steps = driftless("ladder " + learned + " --start " DRIFTLESS_MODEL + flags);
  ASSERT_EQ(steps.exit_code, 0) << steps.err;
  EXPECT_NE(steps.out.find("coverage linear"), std::string::npos) << steps.out;
  const std::string other = (models / "eqr-small.safetensors").string();
  expect_failure(driftless("ladder " + trained + " --start " + other + flags), 12,
                 "another configuration");
}

TEST_F(NativeCommands, LaddersAndStudiesSayWhatPackedModelsNeed) {
  const std::string data = " --data " + file("boards.txt");
  expect_failure(driftless("ladder " DRIFTLESS_PACKED_MODEL + data), 10, "--source");
  expect_failure(driftless("study granularity " DRIFTLESS_PACKED_MODEL + data), 10, "packed");
  expect_failure(driftless("ladder " DRIFTLESS_MODEL " --source " DRIFTLESS_MODEL + data), 10,
                 "--source");
  expect_failure(driftless("ladder " DRIFTLESS_PACKED_MODEL " --source " DRIFTLESS_MODEL
                           " --schemes none int8" +
                           data),
                 10, "--schemes");
  expect_failure(
      driftless("ladder " DRIFTLESS_PACKED_MODEL " --source " DRIFTLESS_PACKED_MODEL + data), 10,
      "packed");
  expect_failure(driftless("accumulators " DRIFTLESS_PACKED_MODEL + data), 10, "packed");
  expect_failure(driftless("bench --width 128"), 10, "--preset");
  expect_failure(driftless("recommend " DRIFTLESS_MODEL " --native" + data), 13, "--native");
}

TEST_F(NativeCommands, SayWhatCannotRun) {
  expect_failure(driftless("quantize " DRIFTLESS_MODEL " " + file("out")), 10, "--weights");
  expect_failure(driftless("eval " DRIFTLESS_MODEL " --native --data " + file("boards.txt")), 10,
                 "--native");
  expect_failure(
      driftless("eval " DRIFTLESS_MODEL " --native --weights mxfp4 --acts mxint4 --data " +
                file("boards.txt")),
      13, "layer 'L_level.layers.0.mlp_t.gate_up_proj.weight'");
  for (const std::string weights : {"mxfp4", "nvfp4 --acts nvfp4", "int4"}) {
    const std::string packed = file("simulated.safetensors");
    const Outcome outcome =
        driftless("quantize " DRIFTLESS_MODEL " " + packed + " --weights " + weights);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const size_t at = outcome.out.find("native: no: ");
    ASSERT_NE(at, std::string::npos) << outcome.out;
    std::string why = outcome.out.substr(at + 12);
    why.pop_back();
    EXPECT_NE(why.find("simulation only"), std::string::npos) << why;
    expect_failure(driftless("eval " + packed + " --native --data " + file("boards.txt")), 13, why);
    EXPECT_NE(driftless("info " + packed).out.find(why), std::string::npos);
  }
  expect_failure(driftless("eval " DRIFTLESS_PACKED_MODEL " --native --weights mxint4 --data " +
                           file("boards.txt")),
                 10, "quantized already");
  expect_failure(driftless("solve --native", "DRIFTLESS_ISA=mmx"), 10, "mmx");
  expect_failure(driftless("eval " DRIFTLESS_PACKED_MODEL " --native --dtype bf16 --data " +
                           file("boards.txt")),
                 10, "--dtype");
  expect_failure(driftless("eval x --native --device cpu --data " + file("boards.txt")), 2,
                 "--native");
}

}  // namespace
}  // namespace driftless
