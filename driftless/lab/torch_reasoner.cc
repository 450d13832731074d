// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/torch_reasoner.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include "driftless/base/error.h"
#include "driftless/base/text.h"
#include "driftless/base/thread_pool.h"
#include "driftless/lab/device.h"
#include "driftless/lab/observer_tap.h"
#include "driftless/lab/recursive_net.h"
#include "driftless/model/shapes.h"
#include "driftless/reason/start.h"

namespace driftless::lab {
namespace {

using reason::Point;
using reason::StepObserver;

constexpr int64_t kMaxSlots = 65536;
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

at::Tensor tensor_of(const store::Tensor& tensor) {
  at::Tensor copy = at::empty(tensor.shape, at::kFloat);
  std::memcpy(copy.data_ptr(), tensor.values.data(), tensor.values.size() * sizeof(float));
  return copy;
}

NamedTensors tensors_of(const store::Checkpoint& checkpoint) {
  NamedTensors named;
  for (const auto& [name, tensor] : checkpoint.tensors) named.emplace(name, tensor_of(tensor));
  return named;
}

/// Every slot's own generator, as the CPU backend has it.
class BoardNoise {
 public:
  BoardNoise(const model::ModelConfig& config, int64_t slots, int64_t threads)
      : config_(config), rngs_(static_cast<size_t>(slots), Rng(0)), pool_(threads) {}

  void seed(int64_t slot, uint64_t seed) { rngs_[static_cast<size_t>(slot)] = Rng(seed); }

  /// [slots, T, D] each.
  States initial(std::span<const int64_t> slots) {
    const auto draw = [&](double deviation) {
      return filled(slots, [=](Rng& rng) { return reason::truncated_normal(rng, deviation); });
    };
    const at::Tensor h = draw(config_.h_init_std);
    return {h, draw(config_.l_init_std)};
  }
  at::Tensor standard_normal(std::span<const int64_t> slots) {
    return filled(slots, [](Rng& rng) { return static_cast<float>(rng.gaussian()); });
  }

 private:
  template <class Draw>
  at::Tensor filled(std::span<const int64_t> slots, Draw draw) {
    at::Tensor values = at::empty(
        {std::ssize(slots), model::positions_count(config_), config_.hidden_size}, at::kFloat);
    const int64_t count = values.size(1) * values.size(2);
    float* const data = values.data_ptr<float>();
    pool_.parallel_for(std::ssize(slots), [&](int64_t i, int64_t) {
      Rng& rng = rngs_[static_cast<size_t>(slots[static_cast<size_t>(i)])];
      std::generate_n(data + i * count, count, [&] { return draw(rng); });
    });
    return values;
  }

  const model::ModelConfig& config_;
  std::vector<Rng> rngs_;
  ThreadPool pool_;
};

struct SlotInfo {
  bool has_board = false;
  bool is_fresh = false;  // the device does not have the board yet
  bool has_readout = false;
};

class TorchReasoner : public reason::Reasoner {
 public:
  TorchReasoner(const model::ModelConfig& config, const NamedTensors& named, at::Device device,
                const TorchOptions& options)
      : config_(config),
        device_(device),
        slots_(static_cast<size_t>(options.slots)),
        noise_(config_, options.slots, options.threads),
        flat_(to_flat(Layout(config), named, "checkpoint").to(device)),
        net_(config, {flat_, options.type == TorchType::F32 ? flat_ : flat_.to(at::kBFloat16), {}},
             initial_of(named)),
        tokens_(at::zeros({options.slots, config.seq_len}, at::kByte)) {
    const int64_t rows = device.is_cuda() ? kChunkRowsCuda : kChunkRowsCpu;
    chunk_ = std::max<int64_t>(1, rows / model::positions_count(config));
    const auto type = options.type == TorchType::F32 ? at::kFloat : at::kBFloat16;
    const std::vector<int64_t> sizes = {options.slots, model::positions_count(config),
                                        config.hidden_size};
    const auto on_device = at::TensorOptions(type).device(device);
    states_ = {at::zeros(sizes, on_device), at::zeros(sizes, on_device)};
    inputs_.tokens = tokens_.to(device);
    if (config.puzzle_emb_len > 0) {
      puzzle_table_ = named.at("puzzle_emb.weights");
      puzzle_rows_ = at::zeros({options.slots}, at::kLong);
      inputs_.puzzles = at::zeros({options.slots, config.puzzle_emb_ndim},
                                  at::TensorOptions(at::kFloat).device(device));
    }
    logits_ = at::zeros({options.slots, config.seq_len, config.vocab_size}, at::kFloat);
    halts_ = at::zeros({options.slots, 2}, at::kFloat);
  }

  [[nodiscard]] const model::ModelConfig& config() const override { return config_; }
  [[nodiscard]] int64_t slot_count() const override { return std::ssize(slots_); }

  void reset(int64_t index, const reason::Board& board) override {
    require_slot(index);
    reason::require_fits(config_, board);
    std::copy(board.tokens.begin(), board.tokens.end(),
              tokens_.data_ptr<uint8_t>() + index * config_.seq_len);
    if (puzzle_rows_.defined()) puzzle_rows_.data_ptr<int64_t>()[index] = board.puzzle;
    if (config_.arch == model::Arch::Eqr) noise_.seed(index, board.seed);
    slots_[static_cast<size_t>(index)] = {.has_board = true, .is_fresh = true};
  }

  void step(std::span<const int64_t> indices, StepObserver* observer) override {
    require_steppable(indices);
    if (indices.empty()) return;
    translated([&] {
      const at::NoGradGuard no_gradients;
      upload_fresh();
      advance(indices, observer);
    });
    for (const int64_t index : indices) slots_[static_cast<size_t>(index)].has_readout = true;
  }

  [[nodiscard]] reason::Readout read(int64_t index) const override {
    require_slot(index);
    DRIFTLESS_REQUIRE(slots_[static_cast<size_t>(index)].has_readout, ErrorCode::InvalidArgument,
                      "slot ", index, ": has made no step since its reset");
    const int64_t size = config_.seq_len * config_.vocab_size;
    const float* const halts = halts_.data_ptr<float>() + 2 * index;
    return {.logits = {logits_.data_ptr<float>() + index * size, static_cast<size_t>(size)},
            .halt_logit = halts[0],
            .continue_logit = halts[1]};
  }

 private:
  [[nodiscard]] States initial_of(const NamedTensors& named) const {
    if (config_.arch == model::Arch::Eqr) return {};
    return {named.at("H_init").to(device_), named.at("L_init").to(device_)};
  }

  void require_slot(int64_t index) const {
    DRIFTLESS_REQUIRE(index >= 0 && index < slot_count(), ErrorCode::InvalidArgument, "slot; got ",
                      index, ", expected 0 to ", slot_count() - 1);
  }

  void require_steppable(std::span<const int64_t> indices) const {
    std::vector<bool> is_taken(slots_.size());
    for (const int64_t index : indices) {
      require_slot(index);
      DRIFTLESS_REQUIRE(slots_[static_cast<size_t>(index)].has_board, ErrorCode::InvalidArgument,
                        "slot ", index, ": has no board to step");
      DRIFTLESS_REQUIRE(!is_taken[static_cast<size_t>(index)], ErrorCode::InvalidArgument, "slot ",
                        index, ": named twice in one step");
      is_taken[static_cast<size_t>(index)] = true;
    }
  }

  [[nodiscard]] static at::Tensor index_of(std::span<const int64_t> indices) {
    at::Tensor index = at::empty({std::ssize(indices)}, at::kLong);
    std::copy(indices.begin(), indices.end(), index.data_ptr<int64_t>());
    return index;
  }

  /// Moves the boards that came since the last step, all at once.
  void upload_fresh() {
    std::vector<int64_t> fresh;
    for (int64_t i = 0; i < slot_count(); ++i)
      if (std::exchange(slots_[static_cast<size_t>(i)].is_fresh, false)) fresh.push_back(i);
    if (fresh.empty()) return;
    const at::Tensor host_index = index_of(fresh);
    const at::Tensor index = host_index.to(device_);
    const auto put = [&](at::Tensor& all, const at::Tensor& some) {
      all.index_copy_(0, index, some.to(all.options()));
    };
    put(inputs_.tokens, tokens_.index_select(0, host_index));
    if (puzzle_table_.defined())
      put(inputs_.puzzles, puzzle_table_.index_select(0, puzzle_rows_.index_select(0, host_index)));
    const States initial = config_.arch == model::Arch::Eqr
                               ? noise_.initial(fresh)
                               : net_.initial_states(std::ssize(fresh));
    put(states_.h, initial.h);
    put(states_.l, initial.l);
  }

  void advance(std::span<const int64_t> indices, StepObserver* observer) {
    bool is_everything = std::ssize(indices) == slot_count();
    for (size_t i = 0; i < indices.size() && is_everything; ++i)
      is_everything = std::cmp_equal(indices[i], i);
    const at::Tensor host_index = index_of(indices);
    const at::Tensor index = is_everything ? at::Tensor() : host_index.to(device_);
    const auto some = [&](const at::Tensor& all) {
      return is_everything || !all.defined() ? all : all.index_select(0, index);
    };
    std::optional<ObserverTap> tap;
    if (observer != nullptr) tap.emplace(*observer, indices);
    StepOptions options{.chunk = chunk_, .tap = tap.has_value() ? &*tap : nullptr, .noise = {}};
    options.noise = [&](int64_t, int64_t first, int64_t count) {
      return noise_
          .standard_normal(indices.subspan(static_cast<size_t>(first), static_cast<size_t>(count)))
          .to(device_);
    };
    const StepOutput output = net_.step({some(states_.h), some(states_.l)},
                                        {some(inputs_.tokens), some(inputs_.puzzles)}, options);
    if (is_everything) {
      states_ = output.states;
    } else {
      states_.h.index_copy_(0, index, output.states.h);
      states_.l.index_copy_(0, index, output.states.l);
    }
    const at::Tensor halts = at::stack({output.halt, output.go_on}, 1);
    logits_.index_copy_(0, host_index, output.logits.to(at::kCPU));
    halts_.index_copy_(0, host_index, halts.to(at::kCPU));
    if (tap.has_value()) {
      const int64_t last = std::ssize(model::schedule(config_)) - 1;
      tap->show({.point = Point::Logits, .call = last}, output.logits);
      tap->show({.point = Point::HaltLogits, .call = last}, halts.unsqueeze(1));
    }
  }

  model::ModelConfig config_;
  at::Device device_;
  std::vector<SlotInfo> slots_;
  BoardNoise noise_;
  at::Tensor flat_;
  RecursiveNet net_;
  int64_t chunk_ = 1;
  States states_;  // of all slots, on the device
  Inputs inputs_;  // of all slots, on the device
  // On the host:
  at::Tensor tokens_;
  at::Tensor puzzle_table_, puzzle_rows_;  // with prefix rows only
  at::Tensor logits_, halts_;
};

}  // namespace

TorchType parse_torch_type(std::string_view name) {
  std::vector<std::string_view> known;
  for (const TorchTypeName& row : kTorchTypeNames) {
    if (row.name == name) return row.type;
    known.push_back(row.name);
  }
  fail(ErrorCode::InvalidArgument, "dtype; got '", name, "', expected one of ", join(known, ", "),
       "; did you mean '", nearest_word(name, known), "'?");
}

std::unique_ptr<reason::Reasoner> make_torch_reasoner(const store::Checkpoint& checkpoint,
                                                      const TorchOptions& options) {
  DRIFTLESS_REQUIRE(options.slots >= 1 && options.slots <= kMaxSlots, ErrorCode::InvalidArgument,
                    "slots; got ", options.slots, ", expected 1 to ", kMaxSlots);
  const at::Device device = find_device(options.device);
  DRIFTLESS_REQUIRE(device.is_cuda() || options.type == TorchType::F32, ErrorCode::Unsupported,
                    "dtype; got bf16 on a CPU, expected f32 there");
  store::require_complete(checkpoint.config, checkpoint.tensors, "checkpoint");
  at::set_num_threads(static_cast<int>(std::clamp<int64_t>(options.threads, 1, 1024)));
  return translated([&] {
    return std::make_unique<TorchReasoner>(checkpoint.config, tensors_of(checkpoint), device,
                                           options);
  });
}

}  // namespace driftless::lab
