// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/spec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"
#include "driftless/formats/block.h"

namespace driftless::quant {
namespace {

using formats::Format;
using formats::Scaling;

struct GranularityName {
  Granularity granularity;
  std::string_view name;
};
constexpr std::array kGranularities = {
    GranularityName{Granularity::Unit, "unit"},
    GranularityName{Granularity::Tensor, "tensor"},
    GranularityName{Granularity::Channel, "channel"},
    GranularityName{Granularity::Token, "token"},
    GranularityName{Granularity::Group, "group"},
};

constexpr std::array<std::string_view, 2> kSources = {"dynamic", "static"};
constexpr std::array<std::string_view, 6> kOptions = {"scale",  "rule",  "block",
                                                      "window", "calib", "fold"};
/// A group longer than any row is the same as channel or token.
constexpr int64_t kMaxGroup = 1 << 20;
/// Exponents of e8m0 lie no further apart.
constexpr int64_t kMaxWindow = 254;
/// Of scale=: integers of 8 bits times scales with fractions stay exact in a float by far.
constexpr int64_t kMaxScaleWindow = 8;

/// The text being parsed, for messages.
struct Context {
  std::string_view text;

  template <class... Parts>
  [[noreturn]] void reject(const Parts&... parts) const {
    fail(ErrorCode::InvalidArgument, "quantizer '", text, "': ", parts...);
  }
  [[noreturn]] void unknown(std::string_view what, std::string_view got,
                            std::span<const std::string_view> expected) const {
    reject("unknown ", what, "; got '", got, "', expected one of ", join(expected, ", "),
           did_you_mean(got, expected));
  }
};

Granularity default_granularity(const Format& format) {
  if (format.scaling != Scaling::None) return Granularity::Block;
  return format.element.bits > 8 ? Granularity::Unit : Granularity::Tensor;
}

int64_t parse_length(const Context& context, std::string_view what, std::string_view digits,
                     int64_t most) {
  const auto length = parse_int(digits);
  if (!length || *length < 1 || *length > most) {
    context.reject(what, " length; got '", digits, "', expected a whole number from 1 to ", most);
  }
  return *length;
}

int64_t parse_window(const Context& context, std::string_view digits, int64_t most) {
  const auto window = parse_int(digits);
  if (!window || *window < 0 || *window > most) {
    context.reject("window; got '", digits, "', expected a whole number from 0 to ", most);
  }
  return *window;
}

std::optional<Source> source_by_name(std::string_view word) {
  if (word == "dynamic") return Source::Dynamic;
  if (word == "static") return Source::Static;
  return std::nullopt;
}

/// Takes blockN, the groups of scale=; false when the word is none.
bool parse_block(const Context& context, std::string_view word, QuantSpec& spec) {
  constexpr std::string_view kBlock = "block";
  if (!word.starts_with(kBlock)) return false;
  spec.group = parse_length(context, "block", word.substr(kBlock.size()), formats::kMaxBlock);
  spec.granularity = Granularity::Block;
  return true;
}

/// Takes a granularity word; false when it is none.
bool parse_granularity(const Context& context, std::string_view word, QuantSpec& spec) {
  for (const auto& [granularity, name] : kGranularities) {
    if (granularity == Granularity::Group && word.starts_with(name)) {
      spec.group = parse_length(context, "group", word.substr(name.size()), kMaxGroup);
      spec.granularity = granularity;
      return true;
    }
    if (word == name) {
      spec.granularity = granularity;
      return true;
    }
  }
  return parse_block(context, word, spec);
}

/// "p99.9" as 99.9.
std::optional<double> parse_percentile(std::string_view word) {
  if (!word.starts_with('p')) return std::nullopt;
  const auto value = parse_number(word.substr(1));
  return value && *value > 0 && *value <= 100 ? value : std::nullopt;
}

Calibration parse_calibration(const Context& context, std::string_view word) {
  if (word == "absmax") return {};
  if (word == "mse") return {.kind = Calibration::Kind::Mse};
  const auto percentile = parse_percentile(word);
  if (!percentile) context.reject("calib; got '", word, "', expected absmax, mse or p99.9");
  return {.kind = Calibration::Kind::Percentile, .percentile = *percentile};
}

Fold parse_fold(const Context& context, std::string_view word) {
  if (word == "max") return {};
  if (word == "mean") return {.kind = Fold::Kind::Mean};
  const auto percentile = parse_percentile(word);
  if (!percentile) context.reject("fold; got '", word, "', expected max, mean or p95");
  return {.kind = Fold::Kind::Percentile, .percentile = *percentile};
}

void require_applies(const Context& context, bool applies, std::string_view option,
                     std::string_view to_what) {
  if (!applies) context.reject("option '", option, "' applies only to ", to_what);
}

void require_scale_rule(const Context& context, formats::ExponentRule rule) {
  using formats::ExponentRule;
  if (rule != ExponentRule::Round && rule != ExponentRule::Rceil && rule != ExponentRule::Mse) {
    context.reject("rule of a scale with fractions; got '", formats::name_of(rule),
                   "', expected round, rceil or mse");
  }
}

/// The value of scale=, or none.
std::optional<std::string_view> scale_option(std::span<const std::string_view> options) {
  constexpr std::string_view kScale = "scale=";
  for (const std::string_view option : options)
    if (option.starts_with(kScale)) return option.substr(kScale.size());
  return std::nullopt;
}

/// Gives blockN of an element format the scale that the options name, as a group of rounded scales.
void parse_scale(const Context& context, std::span<const std::string_view> options,
                 QuantSpec& spec) {
  const auto word = scale_option(options);
  const bool is_block = spec.granularity == Granularity::Block;
  const bool has_word = is_block && spec.format->scaling == Scaling::None;
  if (!word && !has_word) return;
  std::vector<std::string_view> names;
  for (const formats::ScaleFormatName& row : formats::scale_formats()) names.push_back(row.name);
  if (!has_word) {
    context.reject("option 'scale' applies only to element formats in blocks, such as ",
                   "int4/block32,scale=e5m3");
  }
  if (!word) context.reject("block without a scale; expected scale=", join(names, ", "));
  if (spec.format->element.min == 0 || spec.format->element.bits > 8) {
    context.reject("blocks with scale=; got '", spec.format->name,
                   "', expected a symmetric format of at most 8 bits");
  }
  for (const formats::ScaleFormatName& row : formats::scale_formats())
    if (row.name == *word) spec.scale = row.value;
  if (!spec.has_scale_codes()) {
    if (*word == "e8m0" || *word == "e4m3") {
      context.reject("scale '", *word, "' belongs to the block formats; expected ",
                     *word == "e8m0" ? "a name such as mxint4" : "nvfp4");
    }
    context.unknown("scale", *word, names);
  }
  const formats::Element& element = spec.format->element;
  if (!formats::suits(spec.scale, element)) {
    context.reject("scale 's4m3' has a sign, for formats with the lowest code; got '",
                   spec.format->name, "', expected one such as int4_full");
  }
  spec.granularity = Granularity::Group;
  spec.rule = formats::ExponentRule::Round;
}

void parse_option(const Context& context, std::string_view option, QuantSpec& spec) {
  const size_t equals = option.find('=');
  if (equals == std::string_view::npos) {
    context.reject("option; got '", option, "', expected name=value with a name of ",
                   join(kOptions, ", "));
  }
  const std::string_view name = option.substr(0, equals);
  const std::string_view value = option.substr(equals + 1);
  const bool is_block = spec.granularity == Granularity::Block;
  if (name == "scale") {
    return;  // Has been read with the block.
  }
  if (name == "rule") {
    require_applies(context, spec.format->scaling == Scaling::PowerOfTwo || spec.has_scale_codes(),
                    name, "mx formats and blocks with scale=");
    spec.rule = formats::exponent_rule_by_name(value);
    if (spec.has_scale_codes()) require_scale_rule(context, spec.rule);
  } else if (name == "block") {
    require_applies(context, is_block, name, "block formats; use groupN or blockN for the others");
    spec.group = parse_length(context, "block", value, formats::kMaxBlock);
  } else if (name == "window") {
    require_applies(context, spec.format->scaling == Scaling::PowerOfTwo || spec.has_scale_codes(),
                    name, "mx formats and blocks with scale=");
    spec.window =
        parse_window(context, value, spec.has_scale_codes() ? kMaxScaleWindow : kMaxWindow);
  } else if (name == "calib") {
    require_applies(context,
                    !is_block && spec.granularity != Granularity::Unit && !spec.has_scale_codes(),
                    name, "formats that a quantizer scales; blocks have rule=");
    spec.calibration = parse_calibration(context, value);
  } else if (name == "fold") {
    require_applies(context, spec.source == Source::Static, name, "static scales");
    spec.fold = parse_fold(context, value);
  } else {
    context.unknown("option", name, kOptions);
  }
}

void parse_words(const Context& context, std::span<const std::string_view> words, QuantSpec& spec) {
  bool has_granularity = false;
  bool has_source = false;
  for (const std::string_view word : words) {
    if (const auto source = source_by_name(word); source && !has_source) {
      spec.source = *source;
      has_source = true;
    } else if (!has_granularity && !has_source && parse_granularity(context, word, spec)) {
      has_granularity = true;
    } else if (has_source || has_granularity) {
      context.unknown("source", word, kSources);
    } else {
      constexpr std::array<std::string_view, 8> kWords = {
          "unit", "tensor", "channel", "token", "group32", "block32", "dynamic", "static"};
      context.unknown("granularity", word, kWords);
    }
  }
  const bool is_block_format = spec.format->scaling != Scaling::None;
  if (is_block_format && (has_granularity || spec.source == Source::Static)) {
    context.reject("'", spec.format->name, "' brings its own scales; got a granularity or source, ",
                   "expected none; use block=N to change the block");
  }
  const bool can_be_static =
      spec.granularity == Granularity::Tensor || spec.granularity == Granularity::Channel;
  if (spec.source == Source::Static && !can_be_static) {
    context.reject("static scales; got ", words[0], ", expected tensor or channel granularity");
  }
}

std::string percentile_text(double percentile) {
  std::array<char, 32> digits{};
  const auto [end, status] =
      std::to_chars(digits.data(), digits.data() + digits.size(), percentile);
  return "p" + std::string(digits.data(), end);
}

std::string calibration_text(const Calibration& calibration) {
  if (calibration.kind == Calibration::Kind::Mse) return "mse";
  return percentile_text(calibration.percentile);
}

std::string fold_text(const Fold& fold) {
  return fold.kind == Fold::Kind::Mean ? "mean" : percentile_text(fold.percentile);
}

}  // namespace

QuantSpec parse_quant_spec(std::string_view text) {
  if (text == "none") return {};
  const Context context{text};
  const auto parts = split(text, ',');
  const auto words = split(parts[0], '/');
  QuantSpec spec;
  spec.format = &formats::format_by_name(words[0]);
  if (spec.format->element.min > 0) {
    context.reject("'", words[0], "' stores scales; expected a format that has a zero");
  }
  spec.granularity = default_granularity(*spec.format);
  if (spec.granularity == Granularity::Block) spec.group = spec.format->block;
  parse_words(context, std::span(words).subspan(1), spec);
  parse_scale(context, std::span(parts).subspan(1), spec);
  std::vector<std::string_view> seen;
  for (const std::string_view option : std::span(parts).subspan(1)) {
    const std::string_view name = option.substr(0, option.find('='));
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      context.reject("option '", name, "' is given twice");
    }
    seen.push_back(name);
    parse_option(context, option, spec);
  }
  return spec;
}

std::string to_string(const QuantSpec& spec) {
  if (spec.is_none()) return "none";
  std::string text(spec.format->name);
  for (const auto& [granularity, name] : kGranularities) {
    const bool is_shown =
        granularity == spec.granularity &&
        (granularity != default_granularity(*spec.format) || spec.source == Source::Static);
    if (!is_shown) continue;
    text += "/" + std::string(spec.has_scale_codes() ? "block" : name);
    if (granularity == Granularity::Group) text += std::to_string(spec.group);
  }
  if (spec.source == Source::Static) text += "/static";
  for (const formats::ScaleFormatName& row : formats::scale_formats())
    if (row.value == spec.scale) text += ",scale=" + std::string(row.name);
  const auto default_rule =
      spec.has_scale_codes() ? formats::ExponentRule::Round : formats::ExponentRule::Floor;
  if (spec.rule != default_rule) {
    text += ",rule=" + std::string(formats::name_of(spec.rule));
  }
  const bool is_block = spec.granularity == Granularity::Block;
  if (is_block && spec.group != spec.format->block) text += ",block=" + std::to_string(spec.group);
  if (spec.window != kNoWindow) text += ",window=" + std::to_string(spec.window);
  if (spec.calibration != Calibration{}) text += ",calib=" + calibration_text(spec.calibration);
  if (spec.fold != Fold{}) text += ",fold=" + fold_text(spec.fold);
  return text;
}

}  // namespace driftless::quant
