// SPDX-License-Identifier: Apache-2.0
#include "driftless/api/driftless_arrays.h"

#include <limits>
#include <span>
#include <vector>

#include "driftless/api/c_calls.h"
#include "driftless/formats/exponent_rule.h"
#include "driftless/formats/table.h"
#include "driftless/integer/kernels/kernel_set.h"
#include "driftless/quant/codec.h"
#include "driftless/quant/quantizer.h"

namespace {

using driftless::ErrorCode;
using driftless::api::copied;
using driftless::api::guarded;
using driftless::api::require_given;
using driftless::api::require_size;
namespace formats = driftless::formats;
namespace quant = driftless::quant;

const char* scaling_text(formats::Scaling scaling) {
  switch (scaling) {
    case formats::Scaling::PowerOfTwo:
      return "e8m0";
    case formats::Scaling::TwoLevel:
      return "e4m3";
    case formats::Scaling::None:
      break;
  }
  return "none";
}

/// The quantizer of a text for a matrix that memory can hold.
quant::Quantizer quantizer_of(const char* text, int64_t rows, int64_t columns) {
  require_given(text, "quantize: quantizer");
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / int64_t{sizeof(float)};
  DRIFTLESS_REQUIRE(rows >= 0 && columns >= 0 && (columns == 0 || rows <= kMost / columns),
                    ErrorCode::InvalidArgument, "quantize: shape; got ", rows, " x ", columns,
                    ", expected what memory can hold");
  return quant::Quantizer(quant::parse_quant_spec(text));
}

}  // namespace

int64_t driftless_format_count(void) { return std::ssize(formats::formats()); }

int driftless_format_at(int64_t index, driftless_format* format) {
  return guarded([&] {
    require_given(format, "format: format");
    DRIFTLESS_REQUIRE(index >= 0 && index < driftless_format_count(), ErrorCode::InvalidArgument,
                      "format: index; got ", index, ", expected below ", driftless_format_count());
    const formats::Format& row = formats::formats()[static_cast<size_t>(index)];
    *format = {.name = row.name.data(),  // of the table, so that a zero follows
               .bits = row.element.bits,
               .bits_with_scale = formats::bits_per_element(row),
               .block = row.block,
               .scaling = scaling_text(row.scaling),
               .max = row.element.max,
               .smallest = row.element.smallest};
  });
}

const char* driftless_exponent_rule(int64_t index) {
  const auto rules = formats::exponent_rules();
  return index < 0 || index >= std::ssize(rules) ? nullptr
                                                 : rules[static_cast<size_t>(index)].name.data();
}

int driftless_parse_quantizer(const char* quantizer, char** canonical) {
  return guarded([&] {
    require_given(quantizer, "quantizer: text");
    require_given(canonical, "quantizer: canonical");
    *canonical = copied(quant::to_string(quant::parse_quant_spec(quantizer)));
  });
}

int driftless_quantize(const char* quantizer, const float* in, int64_t rows, int64_t columns,
                       float* out) {
  return guarded([&] {
    const quant::Quantizer chosen = quantizer_of(quantizer, rows, columns);
    if (rows == 0 || columns == 0) return;
    require_given(in, "quantize: in");
    require_given(out, "quantize: out");
    chosen.fake_quantize({in, rows, columns}, {out, rows, columns});
  });
}

int driftless_inside(const char* quantizer, const float* in, int64_t rows, int64_t columns,
                     uint8_t* inside) {
  return guarded([&] {
    const quant::Quantizer chosen = quantizer_of(quantizer, rows, columns);
    if (rows == 0 || columns == 0) return;
    require_given(in, "inside: in");
    require_given(inside, "inside: inside");
    static_assert(sizeof(bool) == sizeof(uint8_t));
    quant::find_inside(chosen, {in, rows, columns}, reinterpret_cast<bool*>(inside));
  });
}

int driftless_encode(const char* format, const float* values, size_t count, uint8_t** bytes,
                     size_t* size) {
  return guarded([&] {
    require_given(format, "encode: format");
    require_given(bytes, "encode: bytes");
    require_given(size, "encode: size");
    if (count > 0) require_given(values, "encode: values");
    require_size(count, sizeof(float), "encode: count");
    const auto encoded = quant::encode_bytes(quant::parse_codec_spec(format), {values, count});
    *bytes = static_cast<uint8_t*>(copied(encoded.data(), encoded.size()));
    *size = encoded.size();
  });
}

int driftless_decode(const char* format, const uint8_t* bytes, size_t size, float** values,
                     size_t* count) {
  return guarded([&] {
    require_given(format, "decode: format");
    require_given(values, "decode: values");
    require_given(count, "decode: count");
    if (size > 0) require_given(bytes, "decode: bytes");
    require_size(size, sizeof(float), "decode: size");
    const auto decoded =
        quant::decode_bytes(quant::parse_codec_spec(format), std::as_bytes(std::span(bytes, size)));
    *values = static_cast<float*>(copied(decoded.data(), decoded.size() * sizeof(float)));
    *count = decoded.size();
  });
}

int driftless_instruction_set(const char** name) {
  return guarded([&] {
    require_given(name, "instruction_set: name");
    *name = driftless::integer::kernels().name.data();
  });
}
