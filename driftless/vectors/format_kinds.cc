// SPDX-License-Identifier: Apache-2.0
// Cases of the element formats, and of the elements of block formats: code to value and back.
#include <bit>
#include <cmath>
#include <limits>

#include "driftless/base/error.h"
#include "driftless/formats/float_bits.h"
#include "driftless/formats/table.h"
#include "driftless/vectors/hex.h"
#include "driftless/vectors/kinds.h"

namespace driftless::vectors {
namespace {

using formats::Element;
using formats::Format;

int code_digits(const Element& element) { return element.bits > 8 ? 4 : 2; }

uint32_t code_count(const Element& element) { return 1u << element.bits; }

float value_of(const Element& element, uint64_t code) {
  return element.decode(static_cast<uint16_t>(code));
}

void put_case(const Format& format, uint32_t number, int digits, const FieldSink& sink) {
  std::string fields(format.name);
  fields.push_back(' ');
  put_hex(number, digits, fields);
  sink(fields);
}

/// All codes where there are no more than asked for, else some.
void make_decode(const Amount& amount, const Engine&, Rng& rng, const FieldSink& sink) {
  for (const Format& format : formats::formats()) {
    const uint32_t codes = code_count(format.element);
    const bool is_whole = static_cast<int64_t>(codes) <= amount.cases;
    const int64_t count = is_whole ? static_cast<int64_t>(codes) : amount.cases;
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t code = is_whole ? static_cast<uint64_t>(i) : rng.below(codes);
      put_case(format, static_cast<uint32_t>(code), code_digits(format.element), sink);
    }
  }
}

std::string decode_answer(Fields fields, const Engine&) {
  const Element& element = formats::format_by_name(fields[0]).element;
  const uint32_t code = numbers_of_hex(fields[1], code_digits(element), 1)[0];
  DRIFTLESS_REQUIRE(code < code_count(element), ErrorCode::BadFile, "got code ", code,
                    ", expected one of ", element.bits, " bits");
  const float value = value_of(element, code);
  if (std::isnan(value)) return "nan";  // which one is nobody's business
  return hex_of_floats({&value, 1});
}

/// Values where rounding is decided: those of codes, halfway between two, and next to that; and
/// any.
float value_to_encode(const Element& element, int64_t number, Rng& rng) {
  const uint64_t code = rng.below(code_count(element));
  const float here = value_of(element, code);
  const float there = value_of(element, (code + 1) % code_count(element));
  const float middle = here / 2 + there / 2;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float value = std::bit_cast<float>(static_cast<uint32_t>(rng.next() >> 32));
  if (number % 5 == 1) value = here;
  if (number % 5 == 2) value = middle;
  if (number % 5 == 3) value = std::nextafter(middle, kInfinity);
  if (number % 5 == 4) value = std::nextafter(middle, -kInfinity);
  if (std::isnan(value)) value = rng.below(2) == 0 ? kInfinity : -kInfinity;
  // Formats of scales hold no zero and no negative number.
  if (element.min > 0) value = std::abs(value);
  return element.min > 0 && value == 0 ? 1.0f : value;
}

void make_encode(const Amount& amount, const Engine&, Rng& rng, const FieldSink& sink) {
  for (const Format& format : formats::formats())
    for (int64_t i = 0; i < amount.cases; ++i)
      put_case(format, std::bit_cast<uint32_t>(value_to_encode(format.element, i, rng)), 8, sink);
}

std::string encode_answer(Fields fields, const Engine&) {
  const Element& element = formats::format_by_name(fields[0]).element;
  const float value = floats_of_hex(fields[1], 1)[0];
  DRIFTLESS_REQUIRE(!std::isnan(value), ErrorCode::BadFile, "got NaN, which has no code");
  std::string text;
  put_hex(element.encode(value), code_digits(element), text);
  return text;
}

}  // namespace

const Kind kDecode = {"decode", 2, make_decode, decode_answer};
const Kind kEncode = {"encode", 2, make_encode, encode_answer};

}  // namespace driftless::vectors
