// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/terminal/solve_view.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/cli/terminal/pictures.h"

namespace driftless::cli {
namespace {

using Tokens = std::vector<uint8_t>;

/// Boards up to here are shown as text, step by step, outside a terminal.
constexpr size_t kLineCells = 81;
std::string printed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

class JsonView : public SolveView {
 public:
  JsonView(const Subject& subject, std::function<void(const std::string& line)> sink)
      : subject_(subject),
        sink_(std::move(sink)),
        record_{{"question", text(subject.example.input)}} {
    if (!subject.scheme.empty()) record_["scheme"] = subject.scheme;
  }

  void step(const reason::Answer& answer) override {
    record_["steps"].push_back({{"step", answer.steps},
                                {"prediction", text(answer.tokens)},
                                {"halt_logit", answer.halt_logit}});
  }

  void done(const reason::Answer& answer) override {
    record_["prediction"] = text(answer.tokens);
    if (has_label(subject_.example)) record_["solved"] = is_solved(subject_, answer);
    sink_(record_.dump() + "\n");
  }

 private:
  [[nodiscard]] std::string text(const Tokens& tokens) const {
    return task::to_text(subject_.task, tokens);
  }

  Subject subject_;
  std::function<void(const std::string& line)> sink_;
  nlohmann::ordered_json record_;
};

class LineView : public SolveView {
 public:
  explicit LineView(const Subject& subject) : subject_(subject), before_(subject.example.input) {
    if (!subject.title.empty()) write_out(subject.title + "\n");
  }

  void step(const reason::Answer& answer) override {
    const bool is_short = answer.tokens.size() <= kLineCells;
    write_out(printed("step %-3.0f ", static_cast<double>(answer.steps)) +
              (is_short
                   ? task::to_text(subject_.task, answer.tokens)
                   : std::to_string(changed_cells(before_, answer.tokens)) + " cells changed") +
              printed("  halt logit %+.2f\n", static_cast<double>(answer.halt_logit)));
    before_ = answer.tokens;
    std::this_thread::sleep_for(subject_.delay.value_or(std::chrono::milliseconds(0)));
  }

  void done(const reason::Answer& answer) override {
    write_out("\n" + subject_.task.draw(answer.tokens) + verdict(subject_, answer) + "\n");
  }

 private:
  Subject subject_;
  Tokens before_;
};

/// Redraws the board in place.
class LiveView : public SolveView {
 public:
  LiveView(const Subject& subject, Ink ink)
      : subject_(subject),
        ink_(ink),
        before_(subject.example.input),
        frame_(subject.delay.value_or(kFrame)) {
    frame_.show(picture(before_, {}) + "\n");
  }

  void step(const reason::Answer& answer) override {
    changes_.push_back(changed_cells(before_, answer.tokens));
    frame_.show(picture(answer.tokens, {}) + status(answer) + "\n");
    before_ = answer.tokens;
  }

  void done(const reason::Answer& answer) override {
    const bool is_known = has_label(subject_.example);
    const bool is_right = is_solved(subject_, answer);
    const std::string words = verdict(subject_, answer);
    // Another right answer has no cell to blame.
    const Tokens& label = is_right ? answer.tokens : subject_.example.label;
    const bool is_colored = ink_ == Ink::Colored && is_known;
    const std::string color = !is_colored ? "" : is_right ? "\x1b[1;32m" : "\x1b[1;31m";
    frame_.show(picture(answer.tokens,
                        is_known ? std::span<const uint8_t>(label) : std::span<const uint8_t>()) +
                status(answer) + "\n" + color + words + (is_colored ? "\x1b[0m" : "") + "\n");
  }

 private:
  [[nodiscard]] std::string picture(const Tokens& now, std::span<const uint8_t> label) const {
    const std::string title = subject_.title.empty() ? "" : subject_.title + "\n";
    if (ink_ == Ink::Plain) return title + subject_.task.draw(now);
    return title +
           subject_.task.paint(
               {.question = subject_.example.input, .before = before_, .now = now, .label = label});
  }

  [[nodiscard]] std::string status(const reason::Answer& answer) const {
    return "step " + std::to_string(answer.steps) + "/" + std::to_string(subject_.max_steps) +
           "  " + (ink_ == Ink::Colored ? bars(changes_) + "  " : "") +
           std::to_string(changes_.back()) + " changed" +
           printed("  halt logit %+.2f", static_cast<double>(answer.halt_logit));
  }

  Subject subject_;
  Ink ink_;
  Tokens before_;
  std::vector<int64_t> changes_;
  Frame frame_;
};

/// Whether a picture with title, status and verdict can be redrawn: a cursor cannot return to lines
/// that have left the screen.
bool has_room(const Subject& subject, const Terminal& terminal, Ink ink) {
  constexpr int64_t kOtherLines = 4;
  constexpr int64_t kStatusColumns = 60;
  const int64_t cells = std::ssize(subject.example.input);
  const task::Extent picture =
      ink == Ink::Plain ? subject.task.drawn_extent(cells) : subject.task.painted_extent(cells);
  return picture.rows + kOtherLines <= terminal.rows &&
         std::max(picture.columns, kStatusColumns) <= terminal.columns;
}

}  // namespace

bool has_label(const task::Example& example) {
  return std::any_of(example.label.begin(), example.label.end(),
                     [](uint8_t token) { return token != 0; });
}

bool is_solved(const Subject& subject, const reason::Answer& answer) {
  return subject.task.check(subject.example, answer.tokens) != task::Outcome::Wrong;
}

int64_t changed_cells(std::span<const uint8_t> before, std::span<const uint8_t> now) {
  int64_t changed = 0;
  for (size_t i = 0; i < now.size(); ++i) changed += before[i] != now[i] ? 1 : 0;
  return changed;
}

std::string bars(std::span<const int64_t> changes) {
  constexpr std::array<const char*, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const int64_t most = std::max<int64_t>(1, *std::max_element(changes.begin(), changes.end()));
  std::string text;
  for (const int64_t change : changes) text += kBars[static_cast<size_t>(change * 7 / most)];
  return text;
}

std::string verdict(const Subject& subject, const reason::Answer& answer) {
  const task::Example& example = subject.example;
  const std::string steps = std::to_string(answer.steps) + (answer.steps == 1 ? " step" : " steps");
  if (!has_label(example)) return "answered in " + steps + "; no solution is known to compare with";
  const task::Outcome outcome = subject.task.check(example, answer.tokens);
  if (outcome == task::Outcome::Exact) return "solved in " + steps;
  if (outcome == task::Outcome::Accepted)
    return "solved in " + steps + " with another " + std::string(subject.task.other_answer) +
           " than the file's";
  const task::Share cells = task::matching_cells(example.label, answer.tokens);
  return "not solved after " + steps + ": " + std::to_string(cells.n - cells.hits) + " of " +
         std::to_string(cells.n) + " cells differ from the solution";
}

std::unique_ptr<SolveView> make_json_view(const Subject& subject,
                                          std::function<void(const std::string& line)> sink) {
  return std::make_unique<JsonView>(subject, std::move(sink));
}

std::unique_ptr<SolveView> make_text_view(const Subject& subject, const Terminal& terminal,
                                          Ink ink) {
  if (!terminal.has_utf8 || subject.task.paint == nullptr) ink = Ink::Plain;
  if (terminal.is_live && has_room(subject, terminal, ink))
    return std::make_unique<LiveView>(subject, ink);
  return std::make_unique<LineView>(subject);
}

}  // namespace driftless::cli
