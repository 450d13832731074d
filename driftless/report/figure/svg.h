// SPDX-License-Identifier: Apache-2.0
// The elements that charts are drawn with, as SVG.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driftless/report/figure/chart.h"

namespace driftless::report {

struct Place {
  double x = 0;
  double y = 0;
};

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

enum class Anchor : uint8_t { Start, Middle, End };
enum class Weight : uint8_t { Plain, Bold, Title };

struct TextStyle {
  Anchor anchor = Anchor::Start;
  Tone tone = Tone::Ink;
  Weight weight = Weight::Plain;
};

/// Lines that help to read a value stay in the background.
enum class Stroke : uint8_t { Grid, Dashed, Curve, Whisker };

/// A picture that grows downwards; everything stays within kSvgWidth.
class Svg {
 public:
  void text(Place at, std::string_view words, TextStyle style = {});
  void line(Place from, Place to, Stroke stroke, Tone tone);
  void path(const std::vector<Place>& places, Tone tone);
  /// A faint area between an upper and a lower edge.
  void band(const std::vector<Place>& edge, Tone tone);
  /// A mark whose shape belongs to its tone.
  void symbol(Place at, Tone tone);
  [[nodiscard]] std::string finish(double height, std::string_view title) const;

 private:
  std::string body_;
};

inline constexpr double kSvgWidth = 720;

/// A number with so many decimals, whatever the locale; "-0" is "0".
std::string fixed(double value, int decimals);
/// The width that a text of the usual size takes at most, about.
double width_of(std::string_view text, Weight weight = Weight::Plain);

}  // namespace driftless::report
