// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/task.h"

namespace driftless::task {

const GeneratorOption* Generator::find(std::string_view name) const {
  for (const GeneratorOption& option : options)
    if (option.name == name) return &option;
  return nullptr;
}

std::string to_text(std::string_view alphabet, std::span<const uint8_t> tokens) {
  std::string text;
  for (const uint8_t token : tokens) text += token < alphabet.size() ? alphabet[token] : '?';
  return text;
}

Outcome check_counted_cells(const Example& example, std::span<const uint8_t> prediction) {
  const Share cells = matching_cells(example.label, prediction);
  return cells.n > 0 && cells.hits == cells.n ? Outcome::Exact : Outcome::Wrong;
}

}  // namespace driftless::task
