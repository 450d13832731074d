// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/terminal/compare_view.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "driftless/cli/terminal/pictures.h"

namespace driftless::cli {
namespace {

using Tokens = std::vector<uint8_t>;

/// What one scheme has come to.
struct Side {
  std::string name;
  Tokens before;
  reason::Answer now;
  std::vector<int64_t> changes{};
  bool is_done = false;

  void take(const reason::Answer& answer) {
    changes.push_back(changed_cells(now.tokens, answer.tokens));
    before = std::exchange(now.tokens, answer.tokens);
    now.steps = answer.steps;
    now.halt_logit = answer.halt_logit;
  }
};

std::vector<Side> sides_of(const Subject& subject, const std::vector<std::string>& names) {
  const Tokens& question = subject.example.input;
  std::vector<Side> sides;
  sides.reserve(names.size());
  for (const std::string& name : names)
    sides.push_back({.name = name, .before = question, .now = {.tokens = question}});
  return sides;
}

/// Whether all have made as many steps as the side that has just made one, or are done.
bool is_round_over(const std::vector<Side>& sides, size_t latest) {
  return std::all_of(sides.begin(), sides.end(), [&](const Side& side) {
    return side.is_done || side.now.steps == sides[latest].now.steps;
  });
}

bool are_done(const std::vector<Side>& sides) {
  return std::all_of(sides.begin(), sides.end(), [](const Side& side) { return side.is_done; });
}

/// Cells that are not the label's.
int64_t wrong_cells(const Subject& subject, const reason::Answer& answer) {
  const task::Share cells = task::matching_cells(subject.example.label, answer.tokens);
  return cells.n - cells.hits;
}

std::string counted(int64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

/// "solved in 2 steps", "57 cells wrong, 16 steps"; short enough to stand below a board.
std::string outcome(const Subject& subject, const reason::Answer& answer) {
  const std::string steps = counted(answer.steps, "step");
  if (!has_label(subject.example)) return "answered in " + steps;
  if (is_solved(subject, answer)) return "solved in " + steps;
  return counted(wrong_cells(subject, answer), "cell") + " wrong, " + steps;
}

/// Redraws all boards in place.
class LiveCompare : public CompareView {
 public:
  LiveCompare(const Subject& subject, std::vector<Side> sides, const Terminal& terminal, Ink ink)
      : subject_(subject),
        sides_(std::move(sides)),
        columns_(terminal.columns),
        ink_(ink),
        frame_(subject.delay.value_or(kFrame)) {
    draw();
  }

  void step(size_t side, const reason::Answer& answer) override {
    sides_[side].take(answer);
    if (is_round_over(sides_, side)) draw();
  }

  void done(size_t side, const reason::Answer& answer) override {
    sides_[side].now = answer;
    sides_[side].is_done = true;
    if (are_done(sides_)) draw();
  }

 private:
  void draw() {
    std::vector<std::string> pictures;
    pictures.reserve(sides_.size());
    for (const Side& side : sides_) pictures.push_back(picture(side));
    const std::string title = subject_.title.empty() ? "" : subject_.title + "\n";
    frame_.show(title + beside(pictures, columns_));
  }

  [[nodiscard]] std::string picture(const Side& side) const {
    const std::string board =
        ink_ == Ink::Plain ? subject_.task.draw(side.now.tokens) : paint(side);
    const std::string name = ink_ == Ink::Plain ? side.name : "\x1b[1m" + side.name + "\x1b[0m";
    const std::string course =
        ink_ == Ink::Plain || side.changes.empty() ? "" : bars(side.changes) + "\n";
    return name + "\n" + board + status(side) + "\n" + course;
  }

  [[nodiscard]] std::string paint(const Side& side) const {
    task::Picture picture{
        .question = subject_.example.input, .before = side.before, .now = side.now.tokens};
    // Another right answer has no cell to blame.
    if (side.is_done && has_label(subject_.example))
      picture.label = is_solved(subject_, side.now) ? side.now.tokens : subject_.example.label;
    return subject_.task.paint(picture);
  }

  [[nodiscard]] std::string status(const Side& side) const {
    if (side.is_done) {
      std::string words = outcome(subject_, side.now);
      if (ink_ == Ink::Plain || !has_label(subject_.example)) return words;
      return (is_solved(subject_, side.now) ? "\x1b[1;32m" : "\x1b[1;31m") + words + "\x1b[0m";
    }
    if (side.changes.empty()) return "step 0/" + std::to_string(subject_.max_steps);
    return "step " + std::to_string(side.now.steps) + "/" + std::to_string(subject_.max_steps) +
           "  " + std::to_string(side.changes.back()) + " changed";
  }

  Subject subject_;
  std::vector<Side> sides_;
  int64_t columns_;
  Ink ink_;
  Frame frame_;
};

/// A row of counts per step, then the boards.
class LineCompare : public CompareView {
 public:
  LineCompare(const Subject& subject, std::vector<Side> sides, int64_t columns)
      : subject_(subject), sides_(std::move(sides)), columns_(columns) {
    std::string head = subject.title.empty() ? "" : subject.title + "\n";
    head += has_label(subject.example) ? "cells that differ from the solution\n"
                                       : "cells that changed\n";
    std::vector<std::string> names;
    for (const Side& side : sides_) names.push_back(side.name);
    write_out(head + row("step", names));
  }

  void step(size_t side, const reason::Answer& answer) override {
    sides_[side].take(answer);
    if (!is_round_over(sides_, side)) return;
    std::vector<std::string> counts;
    for (const Side& each : sides_)
      counts.push_back(each.now.steps < answer.steps ? "" : std::to_string(count_of(each)));
    write_out(row(std::to_string(answer.steps), counts));
    std::this_thread::sleep_for(subject_.delay.value_or(std::chrono::milliseconds(0)));
  }

  void done(size_t side, const reason::Answer& answer) override {
    sides_[side].now = answer;
    sides_[side].is_done = true;
    if (!are_done(sides_)) return;
    std::vector<std::string> pictures;
    for (const Side& each : sides_)
      pictures.push_back(each.name + "\n" + subject_.task.draw(each.now.tokens) +
                         outcome(subject_, each.now) + "\n");
    write_out("\n" + beside(pictures, columns_));
  }

 private:
  [[nodiscard]] int64_t count_of(const Side& side) const {
    return has_label(subject_.example) ? wrong_cells(subject_, side.now) : side.changes.back();
  }

  /// Cells to the right below the names.
  [[nodiscard]] std::string row(std::string text, const std::vector<std::string>& cells) const {
    constexpr size_t kStepColumns = 4;
    text.resize(std::max(text.size(), kStepColumns), ' ');
    for (size_t i = 0; i < cells.size(); ++i) {
      const size_t width = std::max<size_t>(sides_[i].name.size(), kStepColumns);
      text += std::string(width - std::min(width, cells[i].size()) + kGap, ' ') + cells[i];
    }
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }

  Subject subject_;
  std::vector<Side> sides_;
  int64_t columns_;
};

/// Whether all pictures can be redrawn: a cursor cannot return to lines that have left the screen.
bool has_room(const Subject& subject, const std::vector<Side>& sides, const Terminal& terminal,
              Ink ink) {
  constexpr int64_t kOtherLines = 3;  // name, status, course
  constexpr int64_t kStatusColumns = 24;
  const int64_t cells = std::ssize(subject.example.input);
  const task::Extent picture =
      ink == Ink::Plain ? subject.task.drawn_extent(cells) : subject.task.painted_extent(cells);
  int64_t width = std::max({picture.columns, kStatusColumns, subject.max_steps});
  for (const Side& side : sides) width = std::max(width, std::ssize(side.name));
  const int64_t in_a_row = (terminal.columns + kGap) / (width + kGap);
  if (in_a_row == 0) return false;
  const int64_t rows = (std::ssize(sides) + in_a_row - 1) / in_a_row;
  return rows * (picture.rows + kOtherLines + 1) + 1 <= terminal.rows;
}

}  // namespace

std::unique_ptr<CompareView> make_compare_view(const Subject& subject,
                                               const std::vector<std::string>& sides,
                                               const Terminal& terminal, Ink ink) {
  if (!terminal.has_utf8 || subject.task.paint == nullptr) ink = Ink::Plain;
  std::vector<Side> all = sides_of(subject, sides);
  if (terminal.is_live && has_room(subject, all, terminal, ink))
    return std::make_unique<LiveCompare>(subject, std::move(all), terminal, ink);
  return std::make_unique<LineCompare>(subject, std::move(all), terminal.columns);
}

}  // namespace driftless::cli
