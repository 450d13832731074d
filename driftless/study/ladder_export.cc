// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/ladder_export.h"

#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

#include "driftless/study/ladder.h"

namespace driftless::study {
namespace {

struct Column {
  std::string_view head;
  std::string_view place;  ///< in a record
};

constexpr std::array<Column, 25> kColumns = {{{"weights", "/config/weights"},
                                              {"activations", "/config/acts"},
                                              {"coverage", "/config/coverage"},
                                              {"smooth", "/config/smooth"},
                                              {"hadamard", "/config/hadamard"},
                                              {"delta", "/config/delta"},
                                              {"scales", "/config/scales"},
                                              {"calibration_seed", "/config/calibration/seed"},
                                              {"steps", "/config/steps"},
                                              {"bits_weights", "/bits/weights"},
                                              {"bits_activations", "/bits/acts"},
                                              {"n", "/n"},
                                              {"exact", "/exact/share"},
                                              {"exact_low", "/exact/low"},
                                              {"exact_high", "/exact/high"},
                                              {"cells", "/cells/mean"},
                                              {"cells_low", "/cells/low"},
                                              {"cells_high", "/cells/high"},
                                              {"less_float", "/paired/difference"},
                                              {"less_float_low", "/paired/low"},
                                              {"less_float_high", "/paired/high"},
                                              {"p_value", "/paired/p_value"},
                                              {"verdict", "/verdict/latent"},
                                              {"run", "/execution"},
                                              {"time_ratio", "/timing/ratio"}}};

std::string csv_field(const Json& record, std::string_view place) {
  const Json::json_pointer pointer{std::string(place)};
  if (!record.contains(pointer) || record.at(pointer).is_null()) return "";
  const Json& value = record.at(pointer);
  if (!value.is_string()) return value.dump();
  std::string text = value;
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string latex_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("_%&#$").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string decimals(const char* pattern, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), pattern, value);
  return text.data();
}

std::string latex_row(const Json& record) {
  const Json& config = record.at("config");
  const Json& exact = record.at("exact");
  const bool is_float = record.at("execution") == "float";
  const auto percent = [&](const char* key) {
    return decimals("%.1f", 100 * exact.at(key).get<double>());
  };
  const auto side = [&](const char* key) {
    const std::string text = config.at(key);
    return text == "none" ? std::string("float") : "\\texttt{" + latex_text(text) + "}";
  };
  const Json& verdict = record.at("verdict");
  return side("weights") + " & " + side("acts") + " & " +
         decimals("%.3g", record.at("bits").at("weights").get<double>()) + " & " +
         percent("share") + " (" + percent("low") + "--" + percent("high") + ") & " +
         (is_float
              ? "--"
              : "$" + decimals("%+.1f", 100 * record.at("paired").at("difference").get<double>()) +
                    "$") +
         " & " + (is_float || verdict.is_null() ? "--" : verdict.at("latent").get<std::string>()) +
         " \\\\\n";
}

}  // namespace

std::string ladder_csv(std::span<const Json> records) {
  std::string text;
  for (const Column& column : kColumns) text += std::string(column.head) + ",";
  text.back() = '\n';
  for (const Json& record : sort_for_ladder(records)) {
    for (const Column& column : kColumns) text += csv_field(record, column.place) + ",";
    text.back() = '\n';
  }
  return text;
}

std::string ladder_latex(std::span<const Json> records) {
  std::string text =
      "\\begin{tabular}{llrrrl}\n\\toprule\n"
      "weights & activations & bits & solved, \\% & less float & verdict \\\\\n\\midrule\n";
  for (const Json& record : sort_for_ladder(records)) text += latex_row(record);
  return text + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace driftless::study
