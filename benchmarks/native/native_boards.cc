// SPDX-License-Identifier: Apache-2.0
// Boards solved natively and in simulation: how many have the same tokens and halt logits after
// every step, to the bit, and the same logits after the last. One line of JSON.
//
//   native_boards MODEL BOARDS LIMIT [weights] [acts] [threads] [exact]
//
// Scales that are no powers of two make the simulation's float sums inexact. `exact` replaces them
// by integer sums of any width (integer::Accumulator), whose product with both scales is the one
// that docs/numerics.md defines for native products.
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/machine.h"
#include "driftless/integer/kernels/kernel_set.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/reason/boards.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/reason/run.h"
#include "driftless/run/boards.h"
#include "driftless/run/model.h"
#include "driftless/simulate/cpu_reasoner.h"

namespace driftless::native {
namespace {

struct Arguments {
  std::string model, boards;
  int64_t limit = 0;
  std::string weights = "mxint4,window=4";
  std::string acts = "mxint4,window=4";
  int64_t threads = 1;
  bool is_exact = false;
};

/// What a board says, step by step.
struct Thoughts {
  std::vector<std::vector<uint8_t>> tokens;
  std::vector<uint32_t> halt_logits;
  std::vector<uint32_t> last_logits;

  bool operator==(const Thoughts&) const = default;
};

std::vector<Thoughts> think(reason::Reasoner& reasoner, std::span<const reason::Board> boards) {
  std::vector<Thoughts> thoughts(boards.size());
  const reason::RunOptions options{
      .halting = reason::find_halting("fixed"),
      .max_steps = reasoner.config().halt_max_steps,
      .on_last_readout = [&](int64_t board, const reason::Readout& readout) {
        for (const float logit : readout.logits)
          thoughts[static_cast<size_t>(board)].last_logits.push_back(
              std::bit_cast<uint32_t>(logit));
      }};
  reason::run(
      reasoner, boards, options, [](int64_t, const reason::Answer&) {},
      [&](int64_t board, const reason::Answer& answer) {
        Thoughts& mine = thoughts[static_cast<size_t>(board)];
        mine.tokens.push_back(answer.tokens);
        mine.halt_logits.push_back(std::bit_cast<uint32_t>(answer.halt_logit));
      });
  return thoughts;
}

void run(const Arguments& args) {
  const store::Checkpoint checkpoint = store::load_checkpoint(args.model);
  const quant::QuantPlan plan = quant::resolve({.weights = quant::parse_quant_spec(args.weights),
                                                .acts = quant::parse_quant_spec(args.acts)},
                                               reason::linear_layers(checkpoint.config));
  const auto examples =
      run::read_boards(run::task_of(checkpoint), {.path = args.boards, .limit = args.limit});
  const std::vector<reason::Board> boards = reason::boards_of(examples, 0);
  const int64_t slots = 4 * args.threads;
  const auto native = think(*make_native_reasoner(store::pack_model(checkpoint, plan),
                                                  {.slots = slots, .threads = args.threads}),
                            boards);
  const integer::Accumulator any_width;
  const auto simulated =
      think(*simulate::make_cpu_reasoner(checkpoint,
                                         {.slots = slots,
                                          .threads = args.threads,
                                          .plan = &plan,
                                          .accumulator = args.is_exact ? &any_width : nullptr}),
            boards);
  int64_t same = 0, same_answers = 0, solved = 0, solved_simulated = 0;
  for (size_t i = 0; i < boards.size(); ++i) {
    same += native[i] == simulated[i] ? 1 : 0;
    same_answers += native[i].tokens.back() == simulated[i].tokens.back() ? 1 : 0;
    solved += native[i].tokens.back() == examples[i].label ? 1 : 0;
    solved_simulated += simulated[i].tokens.back() == examples[i].label ? 1 : 0;
  }
  std::printf(
      "{\"model\": \"%s\", \"weights\": \"%s\", \"acts\": \"%s\", \"sums\": \"%s\", \"boards\": "
      "%zu, \"steps\": %lld, \"same_to_the_bit\": %lld, \"same_answers\": %lld, "
      "\"solved_native\": %lld, \"solved_simulated\": %lld, \"processor\": \"%s\", \"kernels\": "
      "\"%s\"}\n",
      args.model.c_str(), args.weights.c_str(), args.acts.c_str(),
      args.is_exact ? "exact" : "float32", boards.size(),
      static_cast<long long>(checkpoint.config.halt_max_steps), static_cast<long long>(same),
      static_cast<long long>(same_answers), static_cast<long long>(solved),
      static_cast<long long>(solved_simulated), processor_name().c_str(),
      std::string(integer::kernels().name).c_str());
}

}  // namespace
}  // namespace driftless::native

int main(int argc, char** argv) {
  using namespace driftless;
  if (argc < 4) {
    std::fprintf(stderr,
                 "native_boards: expected MODEL BOARDS LIMIT [weights] [acts] [threads] [exact]\n");
    return 2;
  }
  native::Arguments args{.model = argv[1], .boards = argv[2], .limit = std::atol(argv[3])};
  if (argc > 4) args.weights = argv[4];
  if (argc > 5) args.acts = argv[5];
  if (argc > 6) args.threads = std::max(1l, std::atol(argv[6]));
  args.is_exact = argc > 7 && std::string(argv[7]) == "exact";
  try {
    native::run(args);
  } catch (const Error& error) {
    std::fprintf(stderr, "native_boards: %s\n", error.what());
    return 1;
  }
  return 0;
}
