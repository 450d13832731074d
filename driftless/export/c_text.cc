// SPDX-License-Identifier: Apache-2.0
#include "driftless/export/c_text.h"

#include <cstdio>

namespace driftless::exporter {
namespace {

constexpr size_t kLine = 100;

/// The values by `print`, as many a line as fit.
template <class Value, class Print>
std::string definition(const char* type, const std::string& name, std::span<const Value> values,
                       Print print) {
  std::string text = "static const " + std::string(type) + " " + name + "[" +
                     std::to_string(values.size()) + "] REASONER_CONST = {\n";
  size_t line = 0;
  for (const Value value : values) {
    const std::string item = print(value) + ",";
    if (line > 0 && line + item.size() > kLine) {
      text += '\n';
      line = 0;
    }
    text += item;
    line += item.size();
  }
  return text + "\n};\n";
}

std::string decimal(unsigned value) { return std::to_string(value); }

}  // namespace

std::string literal(float value) {
  char text[48];
  std::snprintf(text, sizeof(text), "%af", static_cast<double>(value));
  return text;
}

std::string array(const std::string& name, std::span<const uint8_t> values) {
  return definition("uint8_t", name, values, decimal);
}

std::string array(const std::string& name, std::span<const uint16_t> values) {
  return definition("uint16_t", name, values, decimal);
}

std::string array(const std::string& name, std::span<const float> values) {
  return definition("float", name, values, literal);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace driftless::exporter
