// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/quant/change_memory.h"

#include <gtest/gtest.h>

#include "driftless/lab/net/recursive_net.h"
#include "driftless/lab/quant/planned_linear.h"
#include "driftless/lab/quant/quantize.h"
#include "driftless/reason/plan/linear_layers.h"

#include "tests/lab/tensors.h"
#include "tests/simulate/random_model.h"

namespace driftless::lab {
namespace {

using Of = ChangeMemory::Of;
using testing::waves;

/// Two calls that update z_L, then one that updates z_H.
const std::vector<model::NetworkCall> kCalls = [] {
  std::vector<model::NetworkCall> calls(3);
  calls[0].updates = calls[1].updates = model::State::L;
  calls[2].updates = model::State::H;
  return calls;
}();

at::Tensor slots_of(std::initializer_list<int64_t> slots) {
  return at::tensor(std::vector<int64_t>(slots));
}

TEST(ChangeMemory, SumsBelongToALayerItsSideAndTheUpdatedState) {
  ChangeMemory memory(kCalls, 2);
  const at::Tensor changes = waves({2, 3, 5}, 0.7).to(at::kFloat);
  const auto sums = [&](const char* layer, Of of, int64_t call) {
    return memory.sums(layer, of, {.call = call, .changes = &memory}, changes);
  };
  sums("a", Of::Input, 0).add(changes);
  sums("a", Of::Input, 1).add(changes);
  EXPECT_TRUE(at::equal(sums("a", Of::Input, 0).values(), changes * 2));
  for (const auto& other :
       {sums("b", Of::Input, 0), sums("a", Of::Output, 0), sums("a", Of::Input, 2)})
    EXPECT_EQ(at::count_nonzero(other.values()).item<int64_t>(), 0);
}

TEST(ChangeMemory, SumsBelongToASlotUntilItsBoardLeaves) {
  for (const bool is_columns : {false, true}) {
    const auto laid = [&](const at::Tensor& values) {
      return is_columns ? values.transpose(1, 2).contiguous().transpose(1, 2) : values;
    };
    const at::Tensor changes = laid(waves({4, 3, 5}, 0.7).to(at::kFloat));
    ChangeMemory memory(kCalls, 4);
    const auto sums = [&](int64_t first, int64_t count) {
      const Site site{.changes = &memory, .first_board = first};
      return memory.sums("a", Of::Input, site, laid(changes.narrow(0, 0, count)));
    };
    sums(0, 4).add(changes);
    // Three boards in two chunks: slot 2, then slots 3 and 0.
    memory.select(slots_of({2, 3, 0}));
    ChangeMemory::Sums chunk = sums(1, 2);
    EXPECT_EQ(lies_in_columns(chunk.values()), is_columns);
    EXPECT_TRUE(at::equal(chunk.values(), changes.index_select(0, slots_of({3, 0}))));
    chunk.add(chunk.values());
    memory.clear(slots_of({1, 3}));
    memory.select({});
    const at::Tensor expected =
        changes * at::tensor(std::vector<float>{2, 0, 1, 0}).view({4, 1, 1});
    EXPECT_EQ(lies_in_columns(sums(0, 4).values()), is_columns);
    EXPECT_TRUE(at::equal(sums(0, 4).values(), expected));
  }
}

/// A net whose layers quantize changes.
struct ChangesNet {
  explicit ChangesNet(const store::Checkpoint& checkpoint)
      : planned(plan_linears(checkpoint,
                             quant::resolve({.weights = quant::parse_quant_spec("mxint4"),
                                             .acts = quant::parse_quant_spec("mxint4"),
                                             .delta = true},
                                            reason::linear_layers(checkpoint.config)),
                             at::kFloat)) {
    for (const auto& [name, tensor] : checkpoint.tensors)
      named.emplace(name, tensor_of(tensor.values, at::kCPU).view(tensor.shape));
    flat = to_flat(ParameterLayout(checkpoint.config), named, "test");
  }
  NamedTensors named;
  LayerQuantizers planned;
  at::Tensor flat;
};

// Chunks of the same length: torch may sum in another order where there are more rows.
TEST(ChangeMemory, NeitherChunksNorNeighborsChangeABit) {
  const at::NoGradGuard no_gradients;
  for (const simulate::testing::NamedConfig& named : simulate::testing::named_configs()) {
    const model::ModelConfig& config = named.config;
    if (model::architecture(config).draws_noise()) continue;
    const ChangesNet made(simulate::testing::random_checkpoint(config, 3));
    const RecursiveNet net(config, {made.flat, made.flat, {}, &made.planned},
                           {made.named.at("H_init"), made.named.at("L_init")});
    const auto answers = [&](int64_t first, int64_t boards) {
      const at::Tensor state =
          waves({3, model::positions_count(config), config.hidden_size}, 0.7).to(at::kFloat);
      TensorStates states{state.narrow(0, first, boards), -state.narrow(0, first, boards)};
      Inputs inputs{at::full({boards, config.seq_len}, 1, at::kByte), {}};
      if (config.puzzle_emb_len > 0) inputs.puzzles = at::zeros({boards, config.puzzle_emb_ndim});
      ChangeMemory memory(model::schedule(config), boards);
      for (int step = 0; step < 2; ++step)
        states = net.step(states, inputs, {.chunk = 2, .changes = &memory}).states;
      return states.h;
    };
    const at::Tensor together = answers(0, 3);
    EXPECT_TRUE(at::equal(together.narrow(0, 0, 2), answers(0, 2))) << named.name;
    EXPECT_TRUE(at::equal(together.narrow(0, 2, 1), answers(2, 1))) << named.name;
  }
}

}  // namespace
}  // namespace driftless::lab
