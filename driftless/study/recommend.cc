// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/recommend.h"

#include <algorithm>

#include "driftless/base/error.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/study/lockstep.h"
#include "driftless/study/runner.h"

namespace driftless::study {
namespace {

/// One layer goes from its choice to the next narrower one.
struct Move {
  size_t layer;
  double cost;  // added squared divergence
  double bits;  // saved, weights and one row of activations alike
};

class Search {
 public:
  Search(const RecommendInput& input, const Backend& backend, const Report& report)
      : input_(input), backend_(backend), report_(report) {
    layers_ = reason::linear_layers(input.config);
    if (input.coverage == quant::Coverage::Block)
      std::erase_if(layers_, [](const quant::LinearLayer& layer) { return !layer.is_in_block; });
  }

  Recommendation run() {
    result_.layers.reserve(layers_.size());
    for (const quant::LinearLayer& layer : layers_)
      result_.layers.push_back({.layer = layer, .divergence = {}});
    measure_sensitivities();
    const std::vector<Move> moves = order_moves();
    narrow(moves);
    return std::move(result_);
  }

 private:
  [[nodiscard]] quant::LayerPlan layer_plan(const quant::LinearLayer& layer, size_t choice) const {
    quant::LayerPlan planned{.name = layer.name};
    planned.weights = planned.acts = input_.choices[choice];
    return planned;
  }

  [[nodiscard]] quant::QuantPlan plan_of(const std::vector<size_t>& choices) const {
    quant::QuantPlan plan;
    for (size_t i = 0; i < layers_.size(); ++i)
      if (!input_.choices[choices[i]].is_none())
        plan.layers.push_back(layer_plan(layers_[i], choices[i]));
    return plan;
  }

  [[nodiscard]] LockstepOptions options() const {
    return {
        .config = input_.config, .steps = input_.steps, .batch = input_.batch, .seed = input_.seed};
  }

  /// The tallies of several plans over the first `boards` boards.
  [[nodiscard]] std::vector<Tally> run_plans(std::span<const Subject> subjects,
                                             int64_t boards) const {
    Lockstep lockstep(options(), input_.task, backend_, subjects);
    std::vector<Tally> tallies(subjects.size());
    for (int64_t first = 0; first < boards; first += input_.batch) {
      const int64_t count = std::min(input_.batch, boards - first);
      const std::vector<BatchResult> results = lockstep.run(
          input_.examples.subspan(static_cast<size_t>(first), static_cast<size_t>(count)), first);
      for (size_t i = 0; i < results.size(); ++i) tallies[i].merge(results[i].tally);
    }
    return tallies;
  }

  void measure_sensitivities() {
    const int64_t boards = std::min(input_.probe_boards, std::ssize(input_.examples));
    for (LayerChoice& choice : result_.layers) {
      report_("sensitivity of " + choice.layer.name);
      std::vector<Subject> subjects;
      subjects.reserve(input_.choices.size());
      for (size_t i = 0; i < input_.choices.size(); ++i) {
        quant::QuantPlan alone;
        if (!input_.choices[i].is_none()) alone.layers.push_back(layer_plan(choice.layer, i));
        subjects.push_back({.plan = std::move(alone)});
      }
      for (const Tally& tally : run_plans(subjects, boards)) {
        double sum = 0;
        for (const Moments& step : tally.series("latent_divergence")) sum += step.mean();
        choice.divergence.push_back(sum / static_cast<double>(input_.steps));
      }
    }
  }

  [[nodiscard]] double bits_of_layer(const quant::LinearLayer& layer, size_t choice) const {
    const double bits = bits_per_value(input_.choices[choice], layer.inputs);
    return bits * static_cast<double>(layer.outputs * layer.inputs + layer.inputs);
  }

  /// All moves, cheapest per bit first; a layer's moves keep their order.
  [[nodiscard]] std::vector<Move> order_moves() const {
    std::vector<size_t> at(layers_.size());
    std::vector<Move> moves;
    const auto next_move = [&](size_t i) {
      const std::vector<double>& divergence = result_.layers[i].divergence;
      const double from = divergence[at[i]];
      const double to = divergence[at[i] + 1];
      return Move{.layer = i,
                  .cost = std::max(0.0, to * to - from * from),
                  .bits = bits_of_layer(layers_[i], at[i]) - bits_of_layer(layers_[i], at[i] + 1)};
    };
    while (true) {
      std::vector<Move> candidates;
      for (size_t i = 0; i < layers_.size(); ++i)
        if (at[i] + 1 < input_.choices.size()) candidates.push_back(next_move(i));
      if (candidates.empty()) return moves;
      moves.push_back(*std::min_element(
          candidates.begin(), candidates.end(),
          [](const Move& a, const Move& b) { return a.cost * b.bits < b.cost * a.bits; }));
      ++at[moves.back().layer];
    }
  }

  [[nodiscard]] std::vector<size_t> choices_after(std::span<const Move> moves) const {
    std::vector<size_t> choices(layers_.size());
    for (const Move& move : moves) ++choices[move.layer];
    return choices;
  }

  Check check(std::span<const Move> moves) {
    const quant::QuantPlan plan = plan_of(choices_after(moves));
    Check check{.narrowed = std::ssize(moves), .bits = bits_of(plan, layers_)};
    report_("accuracy of the plan with " + std::to_string(moves.size()) + " layers narrowed");
    const std::vector<Subject> subjects = {{.plan = plan}};
    const Tally tally = run_plans(subjects, std::ssize(input_.examples)).at(0);
    check.paired = {.lost = tally.series("lost").back().share().hits,
                    .gained = tally.series("gained").back().share().hits,
                    .n = std::ssize(input_.examples)};
    check.exact = tally.series("exact").back().mean();
    check.is_within = check.paired.difference() >= -input_.within;
    result_.checks.push_back(check);
    return check;
  }

  void take(std::span<const Move> moves, const Check& check) {
    const std::vector<size_t> choices = choices_after(moves);
    for (size_t i = 0; i < layers_.size(); ++i) result_.layers[i].choice = choices[i];
    result_.plan = plan_of(choices);
    result_.chosen = check;
  }

  /// Bisection between a number of moves that holds and one that does not.
  void narrow(std::span<const Move> moves) {
    const Check widest = check(moves.first(0));
    DRIFTLESS_REQUIRE(widest.is_within, ErrorCode::Numeric, "recommend: even ",
                      quant::to_string(input_.choices[0]),
                      " in every layer moves exact accuracy by ", 100 * widest.paired.difference(),
                      " points, expected at most ", -100 * input_.within,
                      "; allow more with --within or add a wider --choices");
    take(moves.first(0), widest);
    size_t holds = 0;
    size_t fails = moves.size() + 1;
    size_t next = moves.size();
    while (fails - holds > 1) {
      const Check tried = check(moves.first(next));
      if (tried.is_within) {
        holds = next;
        take(moves.first(next), tried);
      } else {
        fails = next;
      }
      next = (holds + fails) / 2;
    }
  }

  const RecommendInput& input_;
  const Backend& backend_;
  const Report& report_;
  std::vector<quant::LinearLayer> layers_;
  Recommendation result_;
};

}  // namespace

Recommendation recommend(const RecommendInput& input, const Backend& backend,
                         const Report& report) {
  DRIFTLESS_REQUIRE(!input.choices.empty() && !input.examples.empty() && input.probe_boards >= 1,
                    ErrorCode::InvalidArgument, "recommend: choices and boards; got ",
                    input.choices.size(), " and ", input.examples.size(), ", expected at least 1");
  for (const quant::QuantSpec& choice : input.choices)
    DRIFTLESS_REQUIRE(choice.source == quant::Source::Dynamic, ErrorCode::InvalidArgument,
                      "recommend: choice '", quant::to_string(choice),
                      "' has static scales; expected a format with its own scales");
  return Search(input, backend, report).run();
}

}  // namespace driftless::study
