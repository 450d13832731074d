// SPDX-License-Identifier: Apache-2.0
// driftless formats: the table of number formats.
#include <cstdio>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "driftless/cli/command.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/formats/table.h"

namespace driftless::cli {
namespace {

using formats::Format;
using formats::Scaling;

std::string scale_text(const Format& format) {
  switch (format.scaling) {
    case Scaling::PowerOfTwo:
      return "e8m0";
    case Scaling::TwoLevel:
      return "e4m3 * float";
    case Scaling::None:
      break;
  }
  return "-";
}

void print_table() {
  std::printf("%-12s %8s %6s %-13s %12s %12s %12s  %s\n", "format", "bits", "block", "scale",
              "lowest", "largest", "smallest", "specials");
  for (const Format& format : formats::formats()) {
    const std::string block = format.scaling == Scaling::None ? "-" : std::to_string(format.block);
    std::printf("%-12s %8g %6s %-13s %12.6g %12.6g %12.6g  %s\n", std::string(format.name).c_str(),
                formats::bits_per_element(format), block.c_str(), scale_text(format).c_str(),
                static_cast<double>(format.element.min), static_cast<double>(format.element.max),
                static_cast<double>(format.element.smallest),
                std::string(format.element.specials).c_str());
  }
}

std::string json_text() {
  auto rows = nlohmann::ordered_json::array();
  for (const Format& format : formats::formats()) {
    nlohmann::ordered_json row = {{"name", format.name},
                                  {"id", format.id},
                                  {"bits_per_element", formats::bits_per_element(format)},
                                  {"element_bits", format.element.bits},
                                  {"lowest", format.element.min},
                                  {"largest", format.element.max},
                                  {"smallest", format.element.smallest},
                                  {"specials", format.element.specials}};
    if (format.scaling != Scaling::None) {
      row["block"] = format.block;
      row["scale"] = scale_text(format);
    }
    rows.push_back(row);
  }
  return rows.dump(2) + "\n";
}

}  // namespace

void add_formats_command(const Verb& verb) {
  auto json = std::make_shared<std::string>();
  verb.add_json(*json, "print or write JSON");
  verb.example("driftless formats --json");
  verb.runs([json] {
    if (!json->empty()) write_output(*json, json_text());
    if (*json != kStandardStream) print_table();
  });
}

}  // namespace driftless::cli
