// SPDX-License-Identifier: Apache-2.0
#include "driftless/loop/stage_reasoner.h"

#include <algorithm>
#include <map>

#include "driftless/base/error.h"
#include "driftless/base/thread_pool.h"
#include "driftless/loop/recursion.h"
#include "driftless/loop/relay.h"
#include "driftless/loop/start.h"
#include "driftless/reason/slot_ledger.h"

namespace driftless::loop {
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

class StageReasoner : public reason::Reasoner {
 public:
  explicit StageReasoner(const StageModel& model)
      : config_(model.config),
        layout_(model.layout),
        shows_inputs_(model.shows_inputs),
        pool_(model.threads),
        start_(model.config, model.tensors, model.layout),
        ledger_(model.slots) {
    add_ops(model);
    std::vector<int64_t> parts;
    for (const Op& op : ops_) parts.push_back(op.stage->parts());
    relay_ = std::make_unique<Relay>(parts);
    int64_t scratch_size = 0;
    for (const auto& stage : stages_) scratch_size = std::max(scratch_size, stage->scratch_size());
    for (int64_t i = 0; i < model.threads; ++i) scratch_.emplace_back(scratch_size);
    memory_size_ = model.memory.size();
    for (int64_t i = 0; i < model.slots; ++i) slots_.push_back(make_slot());
  }

  [[nodiscard]] const model::ModelConfig& config() const override { return config_; }
  [[nodiscard]] int64_t slot_count() const override { return std::ssize(slots_); }

  void reset(int64_t index, const reason::Board& board) override {
    ledger_.require_slot(index);
    start_.require_fits(board);
    Slot& slot = slots_[static_cast<size_t>(index)];
    start_.fill(slot, board);
    std::ranges::fill(slot.memory.span(), 0.0f);
    slot.board_number = board.number;
    slot.is_new = true;
    ledger_.put(index);
  }

  void step(std::span<const int64_t> indices, StepObserver* observer) override {
    ledger_.require_steppable(indices);
    require_visible(observer);
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
    for (const int64_t index : indices) slots_[static_cast<size_t>(index)].is_new = false;
    ledger_.note_step(indices);
  }

  [[nodiscard]] reason::Readout read(int64_t index) const override {
    ledger_.require_readout(index);
    const Slot& slot = slots_[static_cast<size_t>(index)];
    return {.logits = {slot.logits.data(), static_cast<size_t>(logits_size())},
            .halt_logit = slot.halt_logits[0],
            .continue_logit = slot.halt_logits[1]};
  }

  [[nodiscard]] reason::States states(int64_t index) const override {
    ledger_.require_board(index);
    const Slot& slot = slots_[static_cast<size_t>(index)];
    return {.h = {slot.z_h.data(), real_size()}, .l = {slot.z_l.data(), real_size()}};
  }

  void set_states(int64_t index, const reason::States& states) override {
    ledger_.require_states(index, states, static_cast<int64_t>(real_size()));
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

  void require_visible(const StepObserver* observer) const {
    const bool wants_inputs = observer != nullptr && (observer->wants(Point::LinearInput) ||
                                                      observer->wants(Point::QuantizedInput));
    DRIFTLESS_REQUIRE(shows_inputs_ || !wants_inputs, ErrorCode::Unsupported,
                      "observer: the inputs of layers do not exist as floats in this engine; "
                      "simulate to see them");
  }

  const Stage* own(std::unique_ptr<Stage> stage) {
    stages_.push_back(std::move(stage));
    return stages_.back().get();
  }

  void add_ops(const StageModel& model) {
    using model::Injection;
    const RecursionShape shape{config_, layout_, model.epilogues};
    const Stage* const inject_input = own(make_inject(shape, Injection::AnswerAndInput));
    const Stage* const inject_scratch = own(make_inject(shape, Injection::Scratch));
    std::map<model::After, const Stage*> afters;
    std::vector<std::vector<const Stage*>> networks;
    for (const model::Network& network : model::networks(config_)) {
      Stages blocks;
      for (int64_t layer = 0; layer < network.num_layers; ++layer)
        add_block(blocks, model.builder, config_, model::layer_name(network, layer));
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
      const auto [after, is_new] = afters.try_emplace(call.after);
      if (auto stage = is_new ? make_after(call.after, shape, model.tensors) : nullptr)
        after->second = own(std::move(stage));
      if (after->second != nullptr) add(after->second);
      ops_.back().ends_call = true;
      ++index;
    }
    ops_.push_back({own(model.builder.make_heads()), model::State::H, index - 1, false});
  }

  [[nodiscard]] Slot make_slot() const {
    Slot slot;
    for (Buffer* state : {&slot.z_h, &slot.z_l, &slot.x}) *state = Buffer(layout_.state_size());
    if (config_.mixer == model::Mixer::Attention) slot.qkv = Buffer(qkv_size(layout_));
    if (model::architecture(config_).has(model::After::Damp))
      slot.previous = Buffer(layout_.state_size());
    slot.logits = Buffer(logits_size());
    slot.memory = Buffer(2 * memory_size_);
    return slot;
  }

  /// Which part of an op, and of how many.
  struct Part {
    const Op& op;
    int64_t index, count;
  };

  void run_part(const Part& part, int64_t index, int64_t worker, StepObserver* observer) {
    const Op& op = part.op;
    Slot& slot = slots_[static_cast<size_t>(index)];
    const bool is_h = op.updates == model::State::H;
    op.stage->run({.slot = slot,
                   .h = (is_h ? slot.z_h : slot.z_l).data(),
                   .memory = slot.memory.data() + (is_h ? memory_size_ : 0),
                   .passes = slot.is_new && op.call <= config_.l_cycles ? kFirstPasses : 1,
                   .part = part.index,
                   .parts = part.count,
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
        const int64_t parts = op.stage->parts_alone();
        for (int64_t part = 0; part < parts; ++part)
          run_part({op, part, parts}, index, worker, observer);
        if (observer != nullptr && op.ends_call) show_state(op, index, *observer);
      }
  }

  /// All threads share the parts of one board.
  void step_board_together(int64_t index) {
    const int64_t threads = pool_.thread_count();
    relay_->start();
    pool_.parallel_for(threads, [&](int64_t, int64_t worker) {
      relay_->work(worker, threads, [&](size_t stage, int64_t part) {
        const Op& op = ops_[stage];
        run_part({op, part, op.stage->parts()}, index, worker, nullptr);
      });
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
  bool shows_inputs_;
  int64_t memory_size_ = 0;
  ThreadPool pool_;
  Start start_;
  reason::SlotLedger ledger_;
  Stages stages_;
  std::vector<Op> ops_;
  std::unique_ptr<Relay> relay_;
  std::vector<Buffer> scratch_;
  std::vector<Slot> slots_;
};

}  // namespace

std::unique_ptr<reason::Reasoner> make_stage_reasoner(const StageModel& model) {
  DRIFTLESS_REQUIRE(model.slots >= 1 && model.slots <= kMaxSlots, ErrorCode::InvalidArgument,
                    "slots; got ", model.slots, ", expected 1 to ", kMaxSlots);
  return std::make_unique<StageReasoner>(model);
}

}  // namespace driftless::loop
