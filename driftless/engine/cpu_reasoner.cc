// SPDX-License-Identifier: Apache-2.0
#include "driftless/engine/cpu_reasoner.h"

#include <algorithm>

#include "driftless/base/error.h"
#include "driftless/base/thread_pool.h"
#include "driftless/engine/recursion.h"
#include "driftless/engine/start.h"
#include "driftless/native/row_quantizer.h"

namespace driftless::engine {
namespace {

using reason::Point;
using reason::StepObserver;

constexpr int64_t kMaxSlots = 65536;
/// Boards that a thread takes through a stage before the next one: the weights of a stage are read
/// from far memory once for all of them, and their states still fit the processor's own cache.
constexpr int64_t kGroup = 4;

/// A stage and the state that it works on.
struct Op {
  const Stage* stage;
  model::State updates;
  int64_t call;
  bool ends_call;
};

class CpuReasoner : public reason::Reasoner {
 public:
  CpuReasoner(const Build& build, int64_t slots)
      : config_(build.config), layout_(build.layout), pool_(build.workers), start_(build) {
    add_ops(build);
    int64_t scratch_size = 0;
    for (const auto& stage : stages_) scratch_size = std::max(scratch_size, stage->scratch_size());
    for (int64_t i = 0; i < build.workers; ++i) scratch_.emplace_back(scratch_size);
    for (int64_t i = 0; i < slots; ++i) slots_.push_back(make_slot());
  }

  [[nodiscard]] const model::ModelConfig& config() const override { return config_; }
  [[nodiscard]] int64_t slot_count() const override { return std::ssize(slots_); }

  void reset(int64_t index, const reason::Board& board) override {
    require_slot(index);
    start_.require_fits(board);
    Slot& slot = slots_[static_cast<size_t>(index)];
    start_.fill(slot, board);
    slot.board_number = board.number;
    slot.has_board = true;
    slot.has_readout = false;
  }

  void step(std::span<const int64_t> indices, StepObserver* observer) override {
    for (const int64_t index : indices) require_board(index);
    const int64_t boards = std::ssize(indices);
    const int64_t threads = pool_.thread_count();
    if (observer != nullptr) {
      for (const int64_t index : indices) step_boards({&index, 1}, 0, observer);
    } else if (boards % threads == 0 || boards >= 4 * threads) {
      const int64_t group = std::min(kGroup, (boards + threads - 1) / threads);
      pool_.parallel_for((boards + group - 1) / group, [&](int64_t i, int64_t worker) {
        const int64_t count = std::min(group, boards - i * group);
        step_boards(indices.subspan(static_cast<size_t>(i * group), static_cast<size_t>(count)),
                    worker, nullptr);
      });
    } else {
      for (const int64_t index : indices) step_board_together(index);
    }
    for (const int64_t index : indices) slots_[static_cast<size_t>(index)].has_readout = true;
  }

  [[nodiscard]] reason::Readout read(int64_t index) const override {
    require_slot(index);
    const Slot& slot = slots_[static_cast<size_t>(index)];
    DRIFTLESS_REQUIRE(slot.has_readout, ErrorCode::InvalidArgument, "slot ", index,
                      ": has made no step since its reset");
    return {.logits = {slot.logits.data(), static_cast<size_t>(logits_size())},
            .halt_logit = slot.halt_logits[0],
            .continue_logit = slot.halt_logits[1]};
  }

  [[nodiscard]] reason::States states(int64_t index) const override {
    require_board(index);
    const Slot& slot = slots_[static_cast<size_t>(index)];
    return {.h = {slot.z_h.data(), real_size()}, .l = {slot.z_l.data(), real_size()}};
  }

  void set_states(int64_t index, const reason::States& states) override {
    require_board(index);
    for (const auto given : {states.h.size(), states.l.size()})
      DRIFTLESS_REQUIRE(given == real_size(), ErrorCode::InvalidArgument, "slot ", index,
                        ": state; got ", given, " values, expected ", real_size());
    Slot& slot = slots_[static_cast<size_t>(index)];
    std::copy(states.h.begin(), states.h.end(), slot.z_h.data());
    std::copy(states.l.begin(), states.l.end(), slot.z_l.data());
  }

 private:
  [[nodiscard]] int64_t logits_size() const { return config_.seq_len * config_.vocab_size; }

  /// Values of a state without its padding rows, which come last.
  [[nodiscard]] size_t real_size() const {
    return static_cast<size_t>(layout_.rows * layout_.width);
  }

  void require_slot(int64_t index) const {
    DRIFTLESS_REQUIRE(index >= 0 && index < slot_count(), ErrorCode::InvalidArgument, "slot; got ",
                      index, ", expected 0 to ", slot_count() - 1);
  }

  void require_board(int64_t index) const {
    require_slot(index);
    DRIFTLESS_REQUIRE(slots_[static_cast<size_t>(index)].has_board, ErrorCode::InvalidArgument,
                      "slot ", index, ": holds no board");
  }

  const Stage* own(std::unique_ptr<Stage> stage) {
    stages_.push_back(std::move(stage));
    return stages_.back().get();
  }

  void add_ops(const Build& build) {
    using model::Injection;
    const Stage* const inject_input = own(make_inject(build, Injection::AnswerAndInput));
    const Stage* const inject_scratch = own(make_inject(build, Injection::Scratch));
    const Stage* const damp = config_.arch == model::Arch::Eqr ? own(make_damp(build)) : nullptr;
    std::vector<std::vector<const Stage*>> networks;
    for (const model::Network& network : model::networks(config_)) {
      Stages blocks;
      for (int64_t layer = 0; layer < network.num_layers; ++layer)
        add_block(blocks, build, model::layer_name(network, layer));
      networks.emplace_back();
      for (auto& stage : blocks) networks.back().push_back(own(std::move(stage)));
    }
    int64_t index = 0;
    for (const model::NetworkCall& call : model::schedule(config_)) {
      const auto add = [&](const Stage* stage) {
        ops_.push_back({stage, call.updates, index, false});
      };
      add(call.injection == Injection::AnswerAndInput ? inject_input : inject_scratch);
      for (const Stage* stage : networks[static_cast<size_t>(call.network)]) add(stage);
      if (damp != nullptr) add(damp);
      ops_.back().ends_call = true;
      ++index;
    }
    ops_.push_back({own(make_heads(build)), model::State::H, index - 1, false});
  }

  [[nodiscard]] Slot make_slot() const {
    Slot slot;
    for (Buffer* state : {&slot.z_h, &slot.z_l, &slot.x}) *state = Buffer(layout_.state_size());
    if (config_.mixer == model::Mixer::Attention) slot.qkv = Buffer(3 * layout_.state_size());
    if (config_.arch == model::Arch::Eqr) slot.previous = Buffer(layout_.state_size());
    slot.logits = Buffer(logits_size());
    return slot;
  }

  void run_part(const Op& op, int64_t index, int64_t part, int64_t worker, StepObserver* observer) {
    Slot& slot = slots_[static_cast<size_t>(index)];
    op.stage->run({.slot = slot,
                   .h = (op.updates == model::State::H ? slot.z_h : slot.z_l).data(),
                   .part = part,
                   .worker = worker,
                   .scratch = scratch_[static_cast<size_t>(worker)].data(),
                   .slot_index = index,
                   .call = op.call,
                   .observer = observer});
  }

  /// One thread takes boards through the whole step, stage by stage.
  void step_boards(std::span<const int64_t> indices, int64_t worker, StepObserver* observer) {
    for (const Op& op : ops_)
      for (const int64_t index : indices) {
        for (int64_t part = 0; part < op.stage->parts(); ++part)
          run_part(op, index, part, worker, observer);
        if (observer != nullptr && op.ends_call) show_state(op, index, *observer);
      }
  }

  /// All threads share the parts of one board.
  void step_board_together(int64_t index) {
    for (const Op& op : ops_)
      pool_.parallel_for(op.stage->parts(), [&](int64_t part, int64_t worker) {
        run_part(op, index, part, worker, nullptr);
      });
  }

  void show_state(const Op& op, int64_t index, StepObserver& observer) {
    const bool is_h = op.updates == model::State::H;
    const Point point = is_h ? Point::StateH : Point::StateL;
    if (!observer.wants(point)) return;
    const Slot& slot = slots_[static_cast<size_t>(index)];
    const float* const data = (is_h ? slot.z_h : slot.z_l).data();
    observer.observe({.point = point,
                      .slot = index,
                      .call = op.call,
                      .values = {data, layout_.rows, layout_.width, layout_.width}});
  }

  model::ModelConfig config_;
  Layout layout_;
  ThreadPool pool_;
  Start start_;
  Stages stages_;
  std::vector<Op> ops_;
  std::vector<Buffer> scratch_;
  std::vector<Slot> slots_;
};

IntegerLayers integer_layers(const quant::QuantPlan& plan, const native::Accumulator& accumulator) {
  require_integer_layers(plan);
  IntegerLayers layers;
  for (const quant::LayerPlan& layer : plan.layers)
    layers.emplace(layer.name, IntegerArithmetic{layer.weights, layer.acts, accumulator});
  return layers;
}

}  // namespace

quant::QuantPlan without_quantizers(const quant::QuantPlan& plan) {
  quant::QuantPlan bare = plan;
  for (quant::LayerPlan& layer : bare.layers) layer.weights = layer.acts = {};
  return bare;
}

void require_integer_layers(const quant::QuantPlan& plan) {
  for (const quant::LayerPlan& layer : plan.layers) {
    DRIFTLESS_REQUIRE(layer.name != "q_head.weight", ErrorCode::Unsupported, "layer '", layer.name,
                      "': is no matrix product; quantize the layers of the block only");
    try {
      native::require_supported(layer.weights);
      const native::RowQuantizer check(layer.acts, native::kScalarKernels);
    } catch (const Error& error) {
      fail(error.code(), "layer '", layer.name, "': ", error.what());
    }
  }
}

std::unique_ptr<reason::Reasoner> make_cpu_reasoner(const store::Checkpoint& checkpoint,
                                                    const CpuOptions& options) {
  DRIFTLESS_REQUIRE(options.slots >= 1 && options.slots <= kMaxSlots, ErrorCode::InvalidArgument,
                    "slots; got ", options.slots, ", expected 1 to ", kMaxSlots);
  store::require_complete(checkpoint.config, checkpoint.tensors, "checkpoint");
  PlannedModel planned;
  IntegerLayers integers;
  const bool has_plan = options.plan != nullptr && !options.plan->layers.empty();
  if (has_plan && options.accumulator != nullptr) {
    integers = integer_layers(*options.plan, *options.accumulator);
    planned = plan_model(checkpoint, without_quantizers(*options.plan));
  } else if (has_plan) {
    planned = plan_model(checkpoint, *options.plan);
  }
  const Build build{
      .config = checkpoint.config,
      .tensors = has_plan ? planned.tensors : checkpoint.tensors,
      .layout = Layout(checkpoint.config, planned.needs_whole_boards() ? Cut::Whole : Cut::Parts),
      .dtype = options.dtype,
      .workers = options.threads,
      .epilogues = options.epilogues != nullptr ? *options.epilogues : epilogues(),
      .integers = integers,
      .planned = planned.layers};
  return std::make_unique<CpuReasoner>(build, options.slots);
}

int64_t step_flops(const model::ModelConfig& config) {
  const int64_t rows = model::positions_count(config);
  const int64_t width = config.hidden_size;
  // A SwiGLU of width w and inner width i has 3 w i weights.
  const int64_t channel = 3 * rows * width * model::swiglu_inner(width, config.expansion);
  const int64_t mixer = config.mixer == model::Mixer::Tokens
                            ? 3 * width * rows * model::swiglu_inner(rows, config.expansion)
                            : 4 * rows * width * width + 2 * rows * rows * width;
  const std::vector<model::Network> networks = model::networks(config);
  int64_t blocks = 0;
  for (const model::NetworkCall& call : model::schedule(config))
    blocks += networks[static_cast<size_t>(call.network)].num_layers;
  const int64_t heads = config.seq_len * config.vocab_size * width;
  return 2 * (blocks * (channel + mixer) + heads);
}

}  // namespace driftless::engine
