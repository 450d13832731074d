// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/search/search.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/sha256.h"
#include "driftless/run/search/journal.h"
#include "driftless/run/search/judge.h"
#include "driftless/run/search/ways.h"

namespace driftless::run {
namespace {

/// A model, and what it came to on the judging boards.
struct Candidate {
  Stored stored{};
  Judged judged{};
};

/// A wider format for a side of a layer, and what it alone is worth.
struct Wider {
  size_t layer;
  Side side;
  std::string name;
  double gain_per_bit;
};

/// The boards of a search, from one draw: behind moments, to judge on, to check with.
struct DrawnBoards {
  CalibrationBoards source;
  int64_t moments;
  int64_t judging_count;
  std::vector<reason::Board> all{};
  std::string text{};

  DrawnBoards(const store::Checkpoint& checkpoint, const CalibrationOptions& options)
      : source(calibration_source(options, checkpoint, {})),
        moments(options.boards),
        judging_count(std::min(kJudgingBoards, (source.usual_count() - kSearchMomentBoards) / 2)) {
    DRIFTLESS_REQUIRE(judging_count >= kFirstBoards, ErrorCode::InvalidArgument,
                      "--bits: boards; got ", source.usual_count(), ", expected at least ",
                      kSearchMomentBoards + 2 * kFirstBoards, "; name more --calibration-data");
    const auto seed = static_cast<uint64_t>(options.seed.value_or(study::kCalibrationSeed));
    all = source.draw(moments + 2 * judging_count, seed);
    text = source.describe(std::ssize(all), seed);
  }
  [[nodiscard]] std::span<const reason::Board> judging() const {
    return std::span(all).subspan(static_cast<size_t>(moments), static_cast<size_t>(judging_count));
  }
  [[nodiscard]] std::span<const reason::Board> checking() const {
    return std::span(all).last(static_cast<size_t>(judging_count));
  }
  [[nodiscard]] std::string sha256() const {
    Sha256 hash;
    for (const reason::Board& board : all) hash.add(std::as_bytes(board.tokens));
    return hash.hex();
  }
};

SchemeText with_boards(SchemeText scheme) {
  if (scheme.calibration.boards == 0) scheme.calibration.boards = kSearchMomentBoards;
  return scheme;
}

study::Json owner_of(const SearchRequest& request, const DrawnBoards& boards) {
  const SchemeText& scheme = request.scheme;
  return {{"driftless_search", 2},
          {"version", DRIFTLESS_VERSION},
          {"model", request.model_sha256},
          {"bits", request.bits},
          {"coverage", scheme.coverage},
          {"bias", scheme.bias},
          {"attention", scheme.attention},
          {"smooth", scheme.smooth.value_or(0)},
          {"hadamard", scheme.hadamard},
          {"delta", scheme.delta},
          {"boards", boards.text},
          {"boards_for_moments", boards.moments},
          {"boards_sha256", boards.sha256()},
          {"backend", backend_name(request.backend)}};
}

class Search {
 public:
  Search(const store::Checkpoint& checkpoint, const SearchRequest& request,
         const SearchWatch& watch)
      : checkpoint_(checkpoint),
        bits_(request.bits),
        scheme_(with_boards(request.scheme)),
        backend_(request.backend),
        execution_(find_device(backend_.device).execution),
        watch_(watch),
        boards_(checkpoint, scheme_.calibration),
        journal_(request.journal, owner_of(request, boards_)),
        judge_(checkpoint, boards_.judging(), backend_),
        packer_(checkpoint, backend_, scheme_.calibration) {
    story_.precision(4);
  }

  Found run() {
    change_formats();
    packer_.see_under(kept_.stored.plan);
    change_methods();
    const Candidate whole = kept_;
    widen();
    for (int64_t round = 1; change_layers(round) > 0;) ++round;
    check(whole);
    return result();
  }

 private:
  void change_formats();
  void change_methods();
  void widen();
  int64_t change_layers(int64_t round);
  void check(const Candidate& whole);
  Found result();

  Judged judged(const std::string& change, const Stored& stored, const Judge& judge,
                const Judged* than = nullptr);
  bool attempt_whole(const std::string& change, Stored stored);
  bool attempt(const std::string& phase, const Change& change);
  std::vector<Wider> wider_ones();
  [[nodiscard]] bool fits(const Stored& stored) const;
  void note(const Tried& tried);
  void show(const std::string& phase, int64_t done, int64_t total) const {
    if (watch_.progress) watch_.progress(phase, done, total);
  }

  const store::Checkpoint& checkpoint_;
  double bits_;
  SchemeText scheme_;
  BackendOptions backend_;
  study::Execution execution_;
  const SearchWatch& watch_;
  DrawnBoards boards_;
  Journal journal_;
  Judge judge_;
  Packer packer_;
  Candidate kept_;
  std::string calibration_;
  std::string why_;  ///< the last change was skipped
  int64_t tried_ = 0;
  std::ostringstream story_;
};

Judged Search::judged(const std::string& change, const Stored& stored, const Judge& judge,
                      const Judged* than) {
  ++tried_;
  if (const std::optional<Judged> known = journal_.next(change)) return *known;
  Judged judged = judge.judge([&] { return packer_.pack(stored.plan, stored.roundings); }, than);
  journal_.add(change, judged);
  return judged;
}

void Search::note(const Tried& tried) {
  why_ = tried.skipped;
  if (tried.is_whole || tried.is_kept) {
    story_ << " " << tried.change << " ";
    if (!tried.skipped.empty())
      story_ << "skipped;";
    else
      story_ << tried.error << (tried.is_kept ? " kept;" : ";");
  }
  if (watch_.tried) watch_.tried(tried);
}

/// Keeps the model where its error is the least so far.
bool Search::attempt_whole(const std::string& change, Stored stored) {
  Judged judged = this->judged(change, stored, judge_);
  const bool is_kept = judged.skipped.empty() &&
                       (kept_.judged.errors.empty() || judged.mean() < kept_.judged.mean());
  note({.change = change,
        .error = judged.mean(),
        .is_kept = is_kept,
        .is_whole = true,
        .skipped = judged.skipped});
  if (is_kept) kept_ = {std::move(stored), std::move(judged)};
  return is_kept;
}

/// Keeps a change of a layer where it clearly helps.
bool Search::attempt(const std::string& phase, const Change& change) {
  Judged judged = this->judged(phase + ": " + change.name, change.stored, judge_, &kept_.judged);
  const bool is_kept = judged.skipped.empty() && gain(kept_.judged, judged).is_clear();
  note({.change = change.name,
        .error = judged.mean(),
        .is_kept = is_kept,
        .skipped = judged.skipped});
  if (is_kept) kept_ = {change.stored, std::move(judged)};
  return is_kept;
}

void Search::change_formats() {
  const std::vector<std::string> quantizers = block_quantizers(element_bits(bits_));
  for (size_t i = 0; i < quantizers.size(); ++i) {
    show("formats", static_cast<int64_t>(i), std::ssize(quantizers));
    SchemeText text = scheme_;
    text.weights = text.acts = quantizers[i];
    PlannedScheme planned = planned_scheme(text, checkpoint_, backend_, {});
    calibration_ = planned.calibration;
    const size_t layers = planned.plan.layers.size();
    attempt_whole(quantizers[i],
                  {std::move(planned.plan), std::vector<Rounding>(layers, Rounding::Nearest)});
  }
  DRIFTLESS_REQUIRE(!kept_.judged.errors.empty(), ErrorCode::Unsupported,
                    "--bits: no format runs; ", why_);
}

void Search::change_methods() {
  Method method{.clips = true};
  method.clips = attempt_whole(to_string(method), with_method(kept_.stored, method));
  for (const Rounding rounding : {Rounding::Feedback, Rounding::Descent}) {
    show("methods", rounding == Rounding::Feedback ? 1 : 2, 3);
    method.rounding = rounding;
    attempt_whole(to_string(Method{.rounding = rounding}), with_method(kept_.stored, method));
  }
}

bool Search::fits(const Stored& stored) const {
  constexpr double kRounding = 1e-9;  // of sums over layers
  const study::PlanBits bits = mean_bits(stored.plan, checkpoint_.config);
  return std::max(bits.weights, bits.acts) <= bits_ + kRounding;
}

/// Those that fit and help alone, the most gain per bit first.
std::vector<Wider> Search::wider_ones() {
  std::vector<Wider> all;
  const size_t layers = kept_.stored.plan.layers.size();
  const study::PlanBits now = mean_bits(kept_.stored.plan, checkpoint_.config);
  for (size_t layer = 0; layer < layers; ++layer) {
    show("wider formats", static_cast<int64_t>(layer), static_cast<int64_t>(layers));
    for (const Side side : {Side::Weights, Side::Acts})
      for (const Change& change : widened(kept_.stored, layer, side, execution_)) {
        if (!fits(change.stored)) continue;
        const Judged judged =
            this->judged("alone: " + change.name, change.stored, judge_, &kept_.judged);
        if (!judged.skipped.empty()) continue;
        const study::PlanBits bits = mean_bits(change.stored.plan, checkpoint_.config);
        const double more = bits.weights - now.weights + bits.acts - now.acts;
        all.push_back({layer, side, change.name, gain(kept_.judged, judged).mean / more});
      }
  }
  std::erase_if(all, [](const Wider& wider) { return !(wider.gain_per_bit > 0); });
  std::stable_sort(all.begin(), all.end(),
                   [](const Wider& a, const Wider& b) { return a.gain_per_bit > b.gain_per_bit; });
  return all;
}

/// Takes wider formats for as long as there are bits, one for each side of a layer.
void Search::widen() {
  const std::vector<Wider> all = wider_ones();
  std::set<std::pair<size_t, Side>> taken;
  for (size_t i = 0; i < all.size(); ++i) {
    const Wider& wider = all[i];
    show("wider formats together", static_cast<int64_t>(i), std::ssize(all));
    if (taken.contains({wider.layer, wider.side})) continue;
    for (const Change& change : widened(kept_.stored, wider.layer, wider.side, execution_))
      if (change.name == wider.name && fits(change.stored) && attempt("together", change)) {
        taken.insert({wider.layer, wider.side});
        break;  // Changes were of the model before this one.
      }
  }
}

/// How many changes a round over all layers keeps.
int64_t Search::change_layers(int64_t round) {
  const std::string phase = "round " + std::to_string(round);
  const size_t layers = kept_.stored.plan.layers.size();
  int64_t kept = 0;
  for (size_t layer = 0; layer < layers; ++layer) {
    show("layers, " + phase, static_cast<int64_t>(layer), static_cast<int64_t>(layers));
    for (const Part part : kParts)
      for (const Change& change : alternatives(kept_.stored, layer, part, execution_))
        if (attempt(phase, change)) ++kept;
  }
  return kept;
}

/// Back to the changes of the whole model where all others do not help on boards that decided
/// nothing.
void Search::check(const Candidate& whole) {
  if (whole.stored.plan == kept_.stored.plan && whole.stored.roundings == kept_.stored.roundings)
    return;
  const Judge judge(checkpoint_, boards_.checking(), backend_);
  show("check", 0, 2);
  const Judged before = judged("check: whole model", whole.stored, judge);
  show("check", 1, 2);
  const Judged after = judged("check: layers", kept_.stored, judge);
  const bool helps = gain(before, after).mean > 0;
  if (!helps) kept_ = whole;
  story_ << " on other boards " << before.mean() << " without changes of layers, " << after.mean()
         << " with them, " << (helps ? "kept;" : "dropped;");
}

Found Search::result() {
  Found found;
  found.packed = packer_.pack(kept_.stored.plan, kept_.stored.roundings);
  found.packed.calibration = calibration_;
  found.packed.method = "search on " + boards_.text + ", " + std::to_string(tried_) +
                        " changes tried:" + story_.str();
  if (!packer_.note().empty()) found.packed.method += " feedback: " + packer_.note();
  found.bits = mean_bits(kept_.stored.plan, checkpoint_.config);
  return found;
}

}  // namespace

Found search_bits(const store::Checkpoint& checkpoint, const SearchRequest& request,
                  const SearchWatch& watch) {
  static_cast<void>(element_bits(request.bits));  // refused before boards are read
  return Search(checkpoint, request, watch).run();
}

}  // namespace driftless::run
