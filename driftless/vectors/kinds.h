// SPDX-License-Identifier: Apache-2.0
// The kinds of cases, rows of one table. A case is a line of text,
//
//   KIND FIELD... = ANSWER...
//
// whose answer follows from its fields to the last bit, on every machine:
//
//   decode FORMAT CODE = VALUE
//   encode FORMAT VALUE = CODE
//   quantize QUANTIZER ROWSxCOLUMNS VALUES = CODES SCALES
//   product LEFT RIGHT MxNxK CODES SCALES CODES SCALES = SUMS VALUES
//   step MODEL SHA256 STEPS TOKENS = HASH... ANSWER
//
// docs/reliability.md says what the fields are.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "driftless/base/rng.h"
#include "driftless/vectors/engine.h"

namespace driftless::vectors {

/// How many cases of each format, quantizer and pair of them; boards of each model, and steps.
struct Amount {
  int64_t cases = 20;
  int64_t boards = 1;
  int64_t steps = 4;
};

/// Takes the fields of a case, with a blank between.
using FieldSink = std::function<void(const std::string& fields)>;
using Fields = std::span<const std::string_view>;

struct Kind {
  std::string_view name;
  size_t field_count;
  void (*make)(const Amount& amount, const Engine& engine, Rng& rng, const FieldSink& sink);
  /// Throws Error for fields that make no case.
  std::string (*answer)(Fields fields, const Engine& engine);
};

std::span<const Kind> kinds();

/// Throws InvalidArgument that names the nearest kind.
const Kind& kind_by_name(std::string_view name);

// The rows of the table.
extern const Kind kDecode;
extern const Kind kEncode;
extern const Kind kQuantize;
extern const Kind kProduct;
extern const Kind kStep;

}  // namespace driftless::vectors
