// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>

#include "driftless/base/error.h"
#include "driftless/quant/plan/plan.h"
#include "driftless/reason/plan/linear_layers.h"

namespace driftless::run {
namespace {

/// A change and what it comes to where it is made.
struct Candidate {
  std::string change;
  std::string quantizer;  // of both sides
  Method method{};
};

double distance(std::span<const float> a, std::span<const float> b) {
  double square = 0;
  double size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    square += difference * difference;
    size += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return size > 0 ? std::sqrt(square / size) : std::sqrt(square);
}

using HeadStates = std::vector<std::vector<float>>;

/// The states that the heads read after kJudgingSteps, a board each.
HeadStates states_of(reason::Reasoner& reasoner, std::span<const reason::Board> boards) {
  HeadStates states;
  const auto most = static_cast<size_t>(reasoner.slot_count());
  for (size_t first = 0; first < boards.size(); first += most) {
    std::vector<int64_t> slots(std::min(most, boards.size() - first));
    std::iota(slots.begin(), slots.end(), int64_t{0});
    for (const int64_t slot : slots)
      reasoner.reset(slot, boards[first + static_cast<size_t>(slot)]);
    for (int64_t step = 0; step < kJudgingSteps; ++step) reasoner.step(slots);
    for (const int64_t slot : slots) {
      const std::span<const float> state = reasoner.states(slot).h;
      states.emplace_back(state.begin(), state.end());
    }
  }
  return states;
}

class Search {
 public:
  Search(const store::Checkpoint& checkpoint, const SchemeText& scheme,
         const BackendOptions& backend, const OnTried& on_tried)
      : checkpoint_(checkpoint),
        scheme_(scheme),
        backend_(backend),
        on_tried_(on_tried),
        source_(calibration_source(scheme.calibration, checkpoint, {})) {
    CalibrationOptions& calibration = scheme_.calibration;
    if (calibration.boards == 0) calibration.boards = kSearchMomentBoards;
    const auto seed = static_cast<uint64_t>(calibration.seed.value_or(study::kCalibrationSeed));
    drawn_ = source_.draw(calibration.boards + kJudgingBoards, seed);
    judging_ = std::span(drawn_).subspan(static_cast<size_t>(calibration.boards));
    exact_ =
        states_of(*make_reasoner(checkpoint, quant::QuantPlan{}, simulating(backend)), judging_);
    boards_ = source_.describe(std::ssize(drawn_), seed);
  }

  /// Keeps the candidate where it is better than what is kept. Returns whether it is.
  bool attempt(const Candidate& candidate) {
    SchemeText text = scheme_;
    text.weights = text.acts = candidate.quantizer;
    const PlannedScheme planned = planned_scheme(text, checkpoint_, backend_, {});
    store::PackedModel packed =
        pack(checkpoint_, planned, candidate.method, backend_, scheme_.calibration);
    const auto reasoner = make_reasoner(packed, backend_);
    const HeadStates states = states_of(*reasoner, judging_);
    Tried tried{.change = candidate.change,
                .scheme = quant::describe(packed.plan, reason::linear_layers(checkpoint_.config))};
    for (size_t i = 0; i < states.size(); ++i)
      tried.error += distance(states[i], exact_[i]) / static_cast<double>(states.size());
    tried.is_kept = !kept_ || tried.error < least_;
    if (tried.is_kept) {
      kept_ = std::move(packed);
      least_ = tried.error;
      best_ = candidate;
    }
    if (on_tried_) on_tried_(tried);
    tried_.push_back(tried);
    return tried.is_kept;
  }

  [[nodiscard]] const Candidate& best() const { return best_; }

  store::PackedModel result() && {
    std::ostringstream text;
    text.precision(4);
    text << "search on " << boards_ << ":";
    for (const Tried& tried : tried_)
      text << " " << tried.change << " " << tried.error << (tried.is_kept ? " kept;" : ";");
    if (!kept_->method.empty()) text << " " << kept_->method;
    kept_->method = text.str();
    return std::move(*kept_);
  }

 private:
  const store::Checkpoint& checkpoint_;
  SchemeText scheme_;
  BackendOptions backend_;
  const OnTried& on_tried_;
  CalibrationBoards source_;
  std::vector<reason::Board> drawn_;
  std::span<const reason::Board> judging_;
  HeadStates exact_;
  std::string boards_;
  std::optional<store::PackedModel> kept_;
  double least_ = 0;
  Candidate best_;
  std::vector<Tried> tried_;
};

}  // namespace

int element_bits(double bits) {
  constexpr double kScaleShare = 0.25;  // 8 bits for 32 values
  DRIFTLESS_REQUIRE(
      bits >= 2 + kScaleShare && bits < 5 + kScaleShare, ErrorCode::InvalidArgument, "--bits: got ",
      bits, ", expected 2.25 to less than 5.25; --weights and --acts ", "take wider formats");
  return static_cast<int>(std::floor(bits - kScaleShare));
}

store::PackedModel search_bits(const store::Checkpoint& checkpoint, double bits,
                               const SchemeText& scheme, const BackendOptions& backend,
                               const OnTried& on_tried) {
  const std::string width = std::to_string(element_bits(bits));
  Search search(checkpoint, scheme, backend, on_tried);
  const std::vector<Candidate> formats = {
      {"mxint" + width, "mxint" + width},
      {"scale=e5m3", "int" + width + "/block32,scale=e5m3"},
      {"scale=s4m3", "int" + width + "_full/block32,scale=s4m3"}};
  for (const Candidate& format : formats) search.attempt(format);
  Candidate clipped = search.best();
  clipped.change = to_string(Method{.clips = true});
  clipped.method.clips = true;
  search.attempt(clipped);
  for (const Rounding rounding : {Rounding::Feedback, Rounding::ExactFeedback}) {
    Candidate rounded = search.best();
    rounded.change = to_string(Method{.rounding = rounding});
    rounded.method.rounding = rounding;
    search.attempt(rounded);
  }
  return std::move(search).result();
}

}  // namespace driftless::run
