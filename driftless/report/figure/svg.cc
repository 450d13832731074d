// SPDX-License-Identifier: Apache-2.0
#include "driftless/report/figure/svg.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "driftless/report/page.h"

namespace driftless::report {
namespace {

struct Ink {
  Tone tone;
  char name;  ///< of its class
  std::string_view light;
  std::string_view dark;
  std::string_view symbol;  ///< path around the origin
};

constexpr std::string_view kCircle = "M-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0";
constexpr std::string_view kSquare = "M-4,-4H4V4H-4Z";
constexpr std::string_view kTriangle = "M0,-5L5,4H-5Z";
constexpr std::string_view kDiamond = "M0,-5.5L5.5,0L0,5.5L-5.5,0Z";

/// Each has a contrast of 4.5 or more with its background, so that labels can wear it. Shapes tell
/// the tones apart without color.
constexpr std::array<Ink, 8> kInks = {{{Tone::Ink, 'k', "#1c2026", "#e8ebef", kCircle},
                                       {Tone::Quiet, 'q', "#586270", "#a3adba", kSquare},
                                       {Tone::Blue, 'b', "#0060a0", "#7cc0f5", kCircle},
                                       {Tone::Orange, 'o', "#b84400", "#ff9a5c", kSquare},
                                       {Tone::Green, 'g', "#00694d", "#4fd1a5", kTriangle},
                                       {Tone::Purple, 'p', "#8f3a72", "#e8a0cb", kDiamond},
                                       {Tone::Ochre, 'y', "#7d5600", "#f0c04a", kCircle},
                                       {Tone::Slate, 's', "#4a5a78", "#b8c4d8", kTriangle}}};

const Ink& ink_of(Tone tone) {
  return *std::find_if(kInks.begin(), kInks.end(),
                       [&](const Ink& ink) { return ink.tone == tone; });
}

/// Colors go into rules rather than variables, which few viewers but browsers know.
std::string rules(std::string_view paper, std::string_view line, std::string_view Ink::*color) {
  std::string text = ".paper{fill:" + std::string(paper) + ";stroke:" + std::string(line) +
                     "}.grid{stroke:" + std::string(line) + "}";
  for (const Ink& ink : kInks) {
    const std::string value(ink.*color);
    text.append(".f").append(1, ink.name).append("{fill:").append(value).append("}");
    text.append(".s").append(1, ink.name).append("{stroke:").append(value).append("}");
  }
  return text;
}

std::string style_sheet() {
  return "text{font:14px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}"
         ".bold{font-weight:600}.title{font-size:18px;font-weight:600}"
         ".band{opacity:.16}.curve{fill:none;stroke-width:2.2}.whisker{stroke-width:2}"
         ".dashed{stroke-dasharray:5 4}\n" +
         rules("#ffffff", "#d5dae1", &Ink::light) + "\n@media(prefers-color-scheme:dark){" +
         rules("#14171c", "#363d48", &Ink::dark) + "}";
}

std::string point(Place at) { return fixed(at.x, 1) + "," + fixed(at.y, 1); }

std::string path_of(const std::vector<Place>& places) {
  std::string path;
  for (const Place& place : places) path += (path.empty() ? "M" : "L") + point(place);
  return path;
}

}  // namespace

std::string fixed(double value, int decimals) {
  std::array<char, 64> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                          std::chars_format::fixed, decimals);
  std::string written(text.data(), end);
  if (written.find_first_not_of("-0.") == std::string::npos && written.starts_with('-'))
    written.erase(0, 1);
  return written;
}

double width_of(std::string_view text, Weight weight) {
  const double units_per_letter = weight == Weight::Plain ? 7.7 : 8.9;
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;  // not inside a UTF-8 sequence
  });
  return units_per_letter * static_cast<double>(letters);
}

void Svg::text(Place at, std::string_view words, TextStyle style) {
  constexpr std::array<std::string_view, 3> kAnchors = {"", " text-anchor=\"middle\"",
                                                        " text-anchor=\"end\""};
  constexpr std::array<std::string_view, 3> kWeights = {"", " bold", " title"};
  body_ += "<text x=\"" + fixed(at.x, 1) + "\" y=\"" + fixed(at.y, 1) + "\" class=\"f" +
           ink_of(style.tone).name + std::string(kWeights[static_cast<size_t>(style.weight)]) +
           "\"" + std::string(kAnchors[static_cast<size_t>(style.anchor)]) + ">" +
           escape_html(words) + "</text>\n";
}

void Svg::line(Place from, Place to, Stroke stroke, Tone tone) {
  constexpr std::array<std::string_view, 4> kStrokes = {"grid", "dashed", "curve", "whisker"};
  const bool is_grid = stroke == Stroke::Grid;
  body_ += "<path class=\"" + std::string(kStrokes[static_cast<size_t>(stroke)]) +
           (is_grid ? "" : std::string(" s") + ink_of(tone).name) + "\" d=\"M" + point(from) + "L" +
           point(to) + "\"/>\n";
}

void Svg::path(const std::vector<Place>& places, Tone tone) {
  body_ += std::string("<path class=\"curve s") + ink_of(tone).name + "\" d=\"" + path_of(places) +
           "\"/>\n";
}

void Svg::band(const std::vector<Place>& edge, Tone tone) {
  body_ += std::string("<path class=\"band f") + ink_of(tone).name + "\" d=\"" + path_of(edge) +
           "Z\"/>\n";
}

void Svg::symbol(Place at, Tone tone) {
  const Ink& ink = ink_of(tone);
  body_ += std::string("<path class=\"f") + ink.name + "\" transform=\"translate(" + point(at) +
           ")\" d=\"" + std::string(ink.symbol) + "\"/>\n";
}

std::string Svg::finish(double height, std::string_view title) const {
  const std::string size = fixed(kSvgWidth, 0) + " " + fixed(height, 0);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size + "\" width=\"" +
         fixed(kSvgWidth, 0) + "\" height=\"" + fixed(height, 0) + "\" role=\"img\">\n<title>" +
         escape_html(title) + "</title>\n<style>" + style_sheet() +
         "</style>\n<rect class=\"paper\" x=\"0.5\" y=\"0.5\" width=\"" + fixed(kSvgWidth - 1, 0) +
         "\" height=\"" + fixed(height - 1, 0) + "\" rx=\"6\"/>\n" + body_ + "</svg>\n";
}

}  // namespace driftless::report
