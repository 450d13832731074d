// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/reasoner/torch_reasoner.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"
#include "driftless/lab/device/device.h"
#include "driftless/lab/net/recursive_net.h"
#include "driftless/lab/quant/planned_linear.h"
#include "driftless/lab/reasoner/integer_blocks.h"
#include "driftless/lab/reasoner/observer_tap.h"
#include "driftless/lab/reasoner/slot_states.h"
#include "driftless/model/shapes.h"
#include "driftless/reason/slot_ledger.h"
#include "driftless/reason/start.h"

namespace driftless::lab {
namespace {

using reason::Point;
using reason::StepObserver;

constexpr int64_t kMaxSlots = 65536;
constexpr int64_t kMaxThreads = 1024;
// Rows of a state that run together: enough to fill the device, few enough for the inner
// activations to stay in a CPU's cache.
constexpr int64_t kChunkRowsCuda = int64_t{1} << 16;
constexpr int64_t kChunkRowsCpu = 512;

/// libtorch's own errors, such as running out of device memory, as ours.
template <class Work>
auto translated(Work work) {
  try {
    return work();
  } catch (const c10::Error& error) {
    const std::string_view what = error.what_without_backtrace();
    fail(ErrorCode::Internal, "libtorch: ", what.substr(0, what.find('\n')));
  }
}

NamedTensors tensors_of(const store::TensorMap& tensors) {
  NamedTensors named;
  for (const auto& [name, tensor] : tensors)
    named.emplace(name, tensor_of(tensor.values, at::kCPU).view(tensor.shape));
  return named;
}

at::ScalarType scalar_of(TorchType type) {
  return type == TorchType::F32 ? at::kFloat : at::kBFloat16;
}

bool keeps_changes(const TorchOptions& options) {
  return options.plan != nullptr &&
         std::any_of(options.plan->layers.begin(), options.plan->layers.end(),
                     [](const quant::LayerPlan& layer) { return layer.delta; });
}

void require_counts(const TorchOptions& options) {
  DRIFTLESS_REQUIRE(options.slots >= 1 && options.slots <= kMaxSlots, ErrorCode::InvalidArgument,
                    "slots; got ", options.slots, ", expected 1 to ", kMaxSlots);
  DRIFTLESS_REQUIRE(options.threads >= 1 && options.threads <= kMaxThreads,
                    ErrorCode::InvalidArgument, "threads; got ", options.threads,
                    ", expected 1 to ", kMaxThreads);
}

class TorchReasoner : public reason::Reasoner {
 public:
  /// `engine` runs the blocks; null for torch's operations.
  TorchReasoner(const model::ModelConfig& config, const NamedTensors& named, at::Device device,
                LayerQuantizers planned, std::unique_ptr<const BlockEngine> engine,
                const TorchOptions& options)
      : planned_(std::move(planned)),
        engine_(std::move(engine)),
        flat_(to_flat(ParameterLayout(config), named, "checkpoint").to(device)),
        net_(config, {flat_, flat_.to(scalar_of(options.type)), {}, &planned_, engine_.get()},
             initial_of(named, device)),
        ledger_(options.slots),
        board_numbers_(static_cast<size_t>(options.slots)),
        slots_(std::make_unique<SlotStates>(
            net_, tensor_or_none(named, "puzzle_emb.weights"),
            SlotStates::Options{options.slots, options.threads,
                                at::TensorOptions(scalar_of(options.type)).device(device),
                                keeps_changes(options)})),
        logits_(at::zeros({options.slots, config.seq_len, config.vocab_size}, at::kFloat)),
        halts_(at::zeros({options.slots, 2}, at::kFloat)) {
    const int64_t rows = device.is_cuda() ? kChunkRowsCuda : kChunkRowsCpu;
    chunk_ = std::max<int64_t>(1, rows / model::positions_count(config));
    if (device.is_cuda() && !planned_.empty() && !keeps_changes(options))
      not_finite_ = at::zeros({1}, at::TensorOptions(at::kInt).device(device));
  }

  [[nodiscard]] const model::ModelConfig& config() const override { return net_.config(); }
  [[nodiscard]] int64_t slot_count() const override { return ledger_.count(); }

  void reset(int64_t index, const reason::Board& board) override {
    ledger_.require_slot(index);
    reason::require_fits(config(), board);
    slots_->put(index, board);
    board_numbers_[static_cast<size_t>(index)] = board.number;
    ledger_.put(index);
  }

  void step(std::span<const int64_t> indices, StepObserver* observer) override {
    ledger_.require_steppable(indices);
    if (indices.empty()) return;
    translated([&] { advance(indices, observer); });
    ledger_.note_step(indices);
  }

  [[nodiscard]] reason::Readout read(int64_t index) const override {
    ledger_.require_readout(index);
    const int64_t size = logits_.size(1) * logits_.size(2);
    const float* const halts = halts_.data_ptr<float>() + 2 * index;
    return {.logits = {logits_.data_ptr<float>() + index * size, static_cast<size_t>(size)},
            .halt_logit = halts[0],
            .continue_logit = halts[1]};
  }

  [[nodiscard]] reason::States states(int64_t index) const override {
    ledger_.require_board(index);
    return translated([&] { return slots_->read(index); });
  }

  void set_states(int64_t index, const reason::States& states) override {
    ledger_.require_states(index, states, model::positions_count(config()) * config().hidden_size);
    translated([&] { slots_->set(index, states); });
  }

 private:
  static at::Tensor tensor_or_none(const NamedTensors& named, std::string_view name) {
    const auto found = named.find(name);
    return found == named.end() ? at::Tensor() : found->second;
  }
  static TensorStates initial_of(const NamedTensors& named, at::Device device) {
    const at::Tensor h = tensor_or_none(named, "H_init");
    if (!h.defined()) return {};
    return {h.to(device), named.at("L_init").to(device)};
  }

  void advance(std::span<const int64_t> indices, StepObserver* observer) {
    const at::NoGradGuard no_gradients;
    const SlotStates::Selection selection = slots_->select(indices);
    std::optional<ObserverTap> tap;
    if (observer != nullptr) tap.emplace(*observer, indices);
    StepOptions options;
    options.chunk = chunk_;
    options.tap = tap.has_value() ? &*tap : nullptr;
    options.noise = [&](int64_t, int64_t first, int64_t count) {
      return slots_->draw_noise(
          indices.subspan(static_cast<size_t>(first), static_cast<size_t>(count)));
    };
    const std::vector<int64_t> boards = numbers_of(indices);
    options.boards = boards;
    options.changes = selection.changes;
    const StepOutput output = checked_step(selection, options);
    slots_->store(selection, output.states);
    if (selection.changes != nullptr) selection.changes->end_step();
    const at::Tensor halts = at::stack({output.halt, output.go_on}, 1);
    logits_.index_copy_(0, selection.host_index, output.logits.to(at::kCPU));
    halts_.index_copy_(0, selection.host_index, halts.to(at::kCPU));
    if (!tap.has_value()) return;
    const int64_t last = std::ssize(model::schedule(config())) - 1;
    tap->show({.point = Point::Logits, .call = last}, output.logits);
    tap->show({.point = Point::HaltLogits, .call = last}, halts.unsqueeze(1));
  }

  [[nodiscard]] std::vector<int64_t> numbers_of(std::span<const int64_t> indices) const {
    std::vector<int64_t> numbers;
    numbers.reserve(indices.size());
    for (const int64_t index : indices)
      numbers.push_back(board_numbers_[static_cast<size_t>(index)]);
    return numbers;
  }

  /// On CUDA nobody waits for a quantizer to say that its input is finite. Where one notes that it
  /// is not, the step runs again, and the first such quantizer says which board and layer it was.
  /// A step that layers remember cannot run again, so with changes each quantizer is waited for.
  StepOutput checked_step(const SlotStates::Selection& selection, StepOptions options) {
    if (!not_finite_.defined()) return net_.step(selection.states, selection.inputs, options);
    not_finite_.zero_();
    StepOptions noting = options;
    noting.not_finite = not_finite_;
    const StepOutput output = net_.step(selection.states, selection.inputs, noting);
    if (not_finite_.item<int32_t>() == 0) return output;
    options.tap = nullptr;
    std::ignore = net_.step(selection.states, selection.inputs, options);
    fail(ErrorCode::Numeric, "quantize: an input is not finite; expected finite numbers");
  }

  LayerQuantizers planned_;
  std::unique_ptr<const BlockEngine> engine_;
  at::Tensor not_finite_;  // undefined on a CPU, without a plan and with changes
  at::Tensor flat_;
  RecursiveNet net_;
  reason::SlotLedger ledger_;
  std::vector<int64_t> board_numbers_;  // for messages
  // Reading states may move boards to the device first, which changes no state.
  std::unique_ptr<SlotStates> slots_;
  int64_t chunk_ = 1;
  at::Tensor logits_, halts_;  // of all slots, on the host
};

}  // namespace

TorchType parse_torch_type(std::string_view name) {
  return parse_enum(kTorchTypeNames, name, "dtype", ErrorCode::InvalidArgument);
}

std::unique_ptr<reason::Reasoner> make_torch_reasoner(const store::Checkpoint& checkpoint,
                                                      const TorchOptions& options) {
  require_counts(options);
  const at::Device device = find_device(options.device);
  DRIFTLESS_REQUIRE(device.is_cuda() || options.type == TorchType::F32, ErrorCode::Unsupported,
                    "dtype; got bf16 on a CPU, expected f32 there");
  DRIFTLESS_REQUIRE(
      options.plan == nullptr || options.plan->attention == quant::AttentionPrecision::Float,
      ErrorCode::Unsupported, "attention; got ", to_string(options.plan->attention),
      " on libtorch, expected none; it is simulated on cpu and runs on native");
  store::require_complete(checkpoint.config, checkpoint.tensors, "checkpoint");
  at::set_num_threads(static_cast<int>(options.threads));
  return translated([&] {
    if (options.plan == nullptr || options.plan->layers.empty())
      return std::make_unique<TorchReasoner>(checkpoint.config, tensors_of(checkpoint.tensors),
                                             device, LayerQuantizers(), nullptr, options);
    store::TensorMap tensors = checkpoint.tensors;
    LayerQuantizers planned = plan_linears(
        checkpoint, *options.plan, at::TensorOptions(scalar_of(options.type)).device(device));
    plan_biases(*options.plan, checkpoint.config, tensors);
    return std::make_unique<TorchReasoner>(checkpoint.config, tensors_of(tensors), device,
                                           std::move(planned), nullptr, options);
  });
}

std::unique_ptr<reason::Reasoner> make_integer_reasoner(const store::PackedModel& model,
                                                        const TorchOptions& options) {
  require_counts(options);
  DRIFTLESS_REQUIRE(options.type == TorchType::F32 && options.plan == nullptr,
                    ErrorCode::InvalidArgument,
                    "integers on the device: got a type or a plan, expected f32 and the model's");
  const at::Device device = find_device(options.device);
  at::set_num_threads(static_cast<int>(options.threads));
  return translated([&] {
    NamedTensors named = tensors_of(model.tensors);
    for (const auto& [name, weight] : model.weights)  // multiplied by the engine alone
      named.emplace(name, at::zeros({weight.matrix.rows, weight.matrix.cols}));
    return std::make_unique<TorchReasoner>(model.config, named, device,
                                           make_ordered_heads(model, device),
                                           make_integer_blocks(model, device), options);
  });
}

}  // namespace driftless::lab
