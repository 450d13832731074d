// SPDX-License-Identifier: Apache-2.0
// The table of number formats: everything that lists, names, tests or documents formats iterates
// over it. To add one, write its header and add a row in table.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "driftless/formats/element.h"

namespace driftless::formats {

/// How the elements of a format get their scale.
enum class Scaling : uint8_t {
  None,        ///< an element format: a quantizer gives it a float scale
  PowerOfTwo,  ///< blocks with one e8m0 scale each
  TwoLevel,    ///< blocks with one e4m3 scale each, times one float per tensor
};

struct Format {
  uint8_t id;  ///< written to files; never reused
  std::string_view name;
  Element element;
  Scaling scaling = Scaling::None;
  int64_t block = 1;  ///< default number of elements that share a scale
};

/// Every format, element formats first.
std::span<const Format> formats() noexcept;

/// Throws InvalidArgument that names the nearest format.
const Format& format_by_name(std::string_view name);

/// Storage per element, its share of the block scale included (of a tensor scale: not).
double bits_per_element(const Format& format) noexcept;

}  // namespace driftless::formats
