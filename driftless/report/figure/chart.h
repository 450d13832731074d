// SPDX-License-Identifier: Apache-2.0
// A figure as plain data: rows of marks, or curves, in panels that stand one below the other.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace driftless::report {

/// Colors by what they say; the style sheet of svg.cc has them for light and dark.
enum class Tone : uint8_t { Ink, Quiet, Blue, Orange, Green, Purple, Ochre, Slate };

inline constexpr double kNoEnd = std::numeric_limits<double>::quiet_NaN();

/// A value and its 95 % interval; the ends are not finite where there is none.
struct Estimate {
  double value = 0;
  double low = kNoEnd;
  double high = kNoEnd;
};

struct Mark {
  Estimate at;
  Tone tone = Tone::Blue;
};

/// One line of a dot plot. The note stands at its right end.
struct Row {
  std::string label;
  std::vector<Mark> marks;
  std::string note;
  Tone note_tone = Tone::Ink;
};

enum class Unit : uint8_t { Share, Number };
enum class Axis : uint8_t { Linear, Log };

struct DotPanel {
  std::string heading;
  std::string x_name;
  Unit unit = Unit::Share;
  std::vector<Row> rows;
  std::optional<Estimate> reference;  ///< a dashed line, with its interval as a band
};

struct Point {
  double x = 0;
  Estimate y;
};

struct Curve {
  std::string label;
  Tone tone = Tone::Blue;
  std::vector<Point> points;
};

/// At most kMostCurves curves, each with its label at its end.
struct LinePanel {
  std::string heading;
  std::string x_name;
  std::string y_name;
  Unit unit = Unit::Share;
  Axis x_axis = Axis::Linear;
  Axis y_axis = Axis::Linear;
  std::vector<Curve> curves;
};

inline constexpr int64_t kMostCurves = 6;

using Panel = std::variant<DotPanel, LinePanel>;

/// What a tone stands for, told above the panels.
struct Key {
  std::string label;
  Tone tone = Tone::Blue;
};

struct Chart {
  std::string title;
  std::string subtitle;
  std::vector<Key> keys;
  std::vector<Panel> panels;
};

/// A self-contained picture of 720 units' width, the same bytes for the same chart. It follows the
/// reader's light or dark theme where the viewer knows it, on a background of its own.
std::string draw_svg(const Chart& chart);

}  // namespace driftless::report
