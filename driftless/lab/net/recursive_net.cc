// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/net/recursive_net.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include "driftless/base/error.h"
#include "driftless/model/shapes.h"

namespace driftless::lab {
namespace {

// Matrix units want rows of whole 16-byte pieces; vocabularies are odd.
constexpr int64_t kRowMultiple = 8;
int64_t padded_vocab(const model::ModelConfig& config) {
  return (config.vocab_size + kRowMultiple - 1) / kRowMultiple * kRowMultiple;
}
at::Tensor pad_rows(const at::Tensor& matrix, int64_t rows) {
  return at::constant_pad_nd(matrix, {0, 0, 0, rows - matrix.size(0)});
}

constexpr double kRootHalf = 0.707106781;  // as the reference writes it

/// The copy, for the master's gradient.
struct StandIn : torch::autograd::Function<StandIn> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& master,
                            const at::Tensor& copy) {
    ctx->saved_data["master"] = static_cast<int64_t>(master.scalar_type());
    return copy.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& grads) {
    const auto type = static_cast<at::ScalarType>(ctx->saved_data["master"].toInt());
    return {grads[0].to(type), at::Tensor()};
  }
};

int64_t first_with_gradient(const std::vector<model::NetworkCall>& calls) {
  const auto first = std::find_if(calls.begin(), calls.end(),
                                  [](const model::NetworkCall& call) { return call.has_gradient; });
  // One stretch without gradients, then one with them: what run() relies on.
  DRIFTLESS_ASSERT(
      std::all_of(first, calls.end(), [](const auto& call) { return call.has_gradient; }));
  return first - calls.begin();
}

/// A float model's calls and a fixed plan's sum in another order, so that a plan's layers decide
/// for all.
Sublayers sublayers_of(const LayerQuantizers* quantizers) {
  const bool is_fused = quantizers == nullptr ||
                        std::all_of(quantizers->begin(), quantizers->end(), [](const auto& layer) {
                          return layer.second->multiplier() == Multiplier::Network;
                        });
  return is_fused ? Sublayers::Fused : Sublayers::Apart;
}

Site site_of(int64_t call, int64_t first_board, const StepOptions& options) {
  const auto skipped = std::min(static_cast<size_t>(first_board), options.boards.size());
  return {call,
          options.tap,
          options.not_finite,
          options.boards.subspan(skipped),
          options.between ? &options.between : nullptr,
          options.changes,
          first_board};
}

/// For boards whose states look like `state`.
at::Tensor noise_of(const at::Tensor& state, int64_t call, int64_t first_board,
                    const StepOptions& options) {
  if (options.noise) return options.noise(call, first_board, state.size(0));
  return at::randn(state.sizes(), state.options());
}

}  // namespace

RecursiveNet::RecursiveNet(const model::ModelConfig& config, const FlatWeights& weights,
                           const TensorStates& initial)
    : config_(config),
      calls_(model::schedule(config)),
      first_gradient_(first_with_gradient(calls_)),
      layout_(config),
      copy_(weights.copy),
      quantizers_(weights.quantizers),
      engine_(weights.engine),
      rope_(rope_tables(config, weights.copy.device())) {
  if (model::architecture(config).start == model::StartStates::Learned)
    initial_ = {initial.h.to(copy_.options()), initial.l.to(copy_.options())};
  for (const ParameterLayout::Entry& entry : layout_.entries()) {
    at::Tensor master = layout_.view(weights.masters, entry.name).detach();
    if (weights.grads.defined()) {
      master.set_requires_grad(true);
      master.mutable_grad() = layout_.view(weights.grads, entry.name);
    }
    masters_.emplace(entry.name, master);
  }
  refresh();
}

const LayerQuantizer* RecursiveNet::quantizer_of(std::string_view name) const {
  if (quantizers_ == nullptr) return nullptr;
  const auto found = quantizers_->find(name);
  return found == quantizers_->end() ? nullptr : found->second.get();
}

void RecursiveNet::refresh() {
  const WeightLookup lookup = [&](const std::string& name) {
    return LinearWeight{name, masters_.at(name), layout_.view(copy_, name), {}, quantizer_of(name)};
  };
  const Sublayers sublayers = sublayers_of(quantizers_);
  networks_.clear();
  for (const model::Network& network : model::networks(config_)) {
    std::vector<Block>& blocks = networks_.emplace_back();
    for (int64_t i = 0; i < network.num_layers; ++i)
      blocks.emplace_back(config_, model::layer_name(network, i), lookup, sublayers, engine_);
  }
}

TensorStates RecursiveNet::initial_states(int64_t boards) const {
  const std::vector<int64_t> sizes = {boards, model::positions_count(config_), config_.hidden_size};
  if (initial_.h.defined()) return {initial_.h.expand(sizes), initial_.l.expand(sizes)};
  const auto draw = [&](double std) {
    return random_truncated_normal(sizes, std, copy_.device()).to(copy_.scalar_type());
  };
  return {draw(config_.h_init_std), draw(config_.l_init_std)};
}

at::Tensor RecursiveNet::cast(std::string_view name) const {
  return StandIn::apply(masters_.find(name)->second, layout_.view(copy_, name));
}

// A lookup as a product with one-hot rows: exact, and its gradient is a product too.
at::Tensor RecursiveNet::embed(const Inputs& inputs) const {
  const int64_t boards = inputs.tokens.size(0);
  const int64_t width = config_.hidden_size;
  const double scale = std::sqrt(static_cast<double>(width));
  const bool has_positions = config_.positions == model::Positions::Learned;
  const double row_scale = has_positions ? kRootHalf * scale : scale;
  const at::Tensor tokens = at::arange(padded_vocab(config_), inputs.tokens.options());
  const at::Tensor one_hot = inputs.tokens.reshape({-1, 1}).eq(tokens).to(copy_.scalar_type());
  const at::Tensor table = cast("embed_tokens.embedding_weight") * row_scale;
  at::Tensor x = at::mm(one_hot, pad_rows(table, padded_vocab(config_)))
                     .view({boards, config_.seq_len, width});
  if (config_.puzzle_emb_len > 0) {
    // The puzzle's row, then zeros, cut into rows of D.
    const at::Tensor row = inputs.puzzles.to(copy_.scalar_type()) * row_scale;
    const at::Tensor prefix =
        at::constant_pad_nd(row, {0, config_.puzzle_emb_len * width - config_.puzzle_emb_ndim});
    x = at::cat({prefix.view({boards, config_.puzzle_emb_len, width}), x}, 1);
  }
  return has_positions ? x + cast("embed_pos.embedding_weight") * row_scale : x;
}

at::Tensor RecursiveNet::damped(const Part& part, int64_t call, const at::Tensor& before,
                                const at::Tensor& after, const StepOptions& options) const {
  at::Tensor mixed = before * (1 - config_.lambda) + after * config_.lambda;
  if (config_.noise_scale == 0) return mixed;
  return mixed.add_(noise_of(before, call, part.first_board, options), config_.noise_scale);
}

at::Tensor RecursiveNet::perturbed(const Part& part, int64_t call, const at::Tensor& after,
                                   const StepOptions& options) const {
  const at::Tensor deviation =
      masters_.find(model::kLogScaleName)->second.exp() * config_.noise_scale;
  const at::Tensor noise = noise_of(after, call, part.first_board, options);
  return after + (noise * deviation).to(after.scalar_type());
}

at::Tensor RecursiveNet::noise_divergence() const {
  if (!model::architecture(config_).has(model::After::Perturb)) return {};
  const at::Tensor& log_scale = masters_.find(model::kLogScaleName)->second;
  return ((2 * log_scale).exp().sub(1).div(2) - log_scale).mean();
}

TensorStates RecursiveNet::run(const Part& part, TensorStates states, const at::Tensor& x,
                               const StepOptions& options) const {
  at::Tensor answer_and_input;  // z_H + x, until z_H changes
  for (int64_t i = part.first_call; i < part.end_call; ++i) {
    const model::NetworkCall& call = calls_[static_cast<size_t>(i)];
    const bool is_h = call.updates == model::State::H;
    const bool takes_input = call.injection == model::Injection::AnswerAndInput;
    if (takes_input && !answer_and_input.defined()) answer_and_input = states.h + x;
    at::Tensor& state = is_h ? states.h : states.l;
    at::Tensor next = state + (takes_input ? answer_and_input : states.l);
    for (const Block& block : networks_[static_cast<size_t>(call.network)])
      next = block.run(next, rope_, site_of(i, part.first_board, options));
    switch (call.after) {
      case model::After::Nothing:
        break;
      case model::After::Damp:
        next = damped(part, i, state, next, options);
        break;
      case model::After::Perturb:
        next = perturbed(part, i, next, options);
        break;
    }
    state = next;
    if (is_h) answer_and_input.reset();
    if (options.tap != nullptr) options.tap->state(call.updates, i, state);
  }
  return states;
}

TensorStates RecursiveNet::run_without_gradients(int64_t end_call, const TensorStates& states,
                                                 const at::Tensor& x,
                                                 const StepOptions& options) const {
  const at::NoGradGuard no_gradients;
  const int64_t boards = x.size(0);
  if (boards <= options.chunk || options.tap != nullptr)
    return run({0, end_call, 0}, states, x, options);
  const TensorStates out{at::empty_like(x), at::empty_like(x)};
  for (int64_t begin = 0; begin < boards; begin += options.chunk) {
    const int64_t count = std::min(options.chunk, boards - begin);
    const auto part = [&](const at::Tensor& all) { return all.narrow(0, begin, count); };
    const TensorStates some =
        run({0, end_call, begin}, {part(states.h), part(states.l)}, part(x), options);
    part(out.h).copy_(some.h);
    part(out.l).copy_(some.l);
  }
  return out;
}

void RecursiveNet::rest_of_step(int64_t first_call, const TensorStates& states,
                                const Inputs& inputs, const StepOptions& options) const {
  const at::NoGradGuard no_gradients;
  [[maybe_unused]] const TensorStates end =
      run({first_call, std::ssize(calls_), 0}, states, embed(inputs), options);
}

at::Tensor RecursiveNet::answer_logits(const at::Tensor& h, const Site& site) const {
  const std::string name = "lm_head.weight";
  const at::Tensor cells = h.narrow(1, config_.puzzle_emb_len, config_.seq_len);
  const at::Tensor head = pad_rows(cast(name), padded_vocab(config_));
  return linear(cells, {name, {}, head, {}, quantizer_of(name)}, site)
      .narrow(2, 0, config_.vocab_size);
}

at::Tensor RecursiveNet::halting_logits(const at::Tensor& h, const Site& site) const {
  const std::string name = "q_head.weight";
  const LinearWeight head{name, {}, cast(name), cast("q_head.bias"), quantizer_of(name)};
  return linear(h.narrow(1, 0, 1), head, site).select(1, 0);
}

StepOutput RecursiveNet::read_out(const TensorStates& states, const StepOptions& options) const {
  const Site site = site_of(std::ssize(calls_) - 1, 0, options);
  const at::Tensor logits = answer_logits(states.h, site);
  const at::Tensor halt = halting_logits(states.h, site).to(at::kFloat);
  return {{states.h.detach(), states.l.detach()},
          logits.to(at::kFloat),
          halt.select(1, 0),
          halt.select(1, 1)};
}

StepOutput RecursiveNet::step(const TensorStates& states, const Inputs& inputs,
                              const StepOptions& options) const {
  const at::Tensor& tokens = inputs.tokens;
  DRIFTLESS_REQUIRE(tokens.dim() == 2 && tokens.size(1) == config_.seq_len,
                    ErrorCode::InvalidArgument, "lab: got inputs of shape ", tokens.sizes(),
                    ", expected [boards, ", config_.seq_len, "]");
  DRIFTLESS_REQUIRE(
      config_.puzzle_emb_len == 0 || (inputs.puzzles.defined() && inputs.puzzles.dim() == 2 &&
                                      inputs.puzzles.size(0) == tokens.size(0) &&
                                      inputs.puzzles.size(1) == config_.puzzle_emb_ndim),
      ErrorCode::InvalidArgument, "lab: expected puzzle rows of shape [", tokens.size(0), ", ",
      config_.puzzle_emb_ndim, "] for a model with prefix rows");
  const at::Tensor x = embed(inputs);
  const int64_t all = std::ssize(calls_);
  const int64_t split = at::GradMode::is_enabled() ? first_gradient_ : all;
  const TensorStates carried = run_without_gradients(split, states, x.detach(), options);
  return read_out(run({split, all, 0}, carried, x, options), options);
}

}  // namespace driftless::lab
