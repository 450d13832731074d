// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/codec.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <sstream>
#include <string>

#include "driftless/base/error.h"
#include "driftless/quant/quantizer.h"

namespace driftless::quant {
namespace {

static_assert(std::endian::native == std::endian::little, "byte forms are little-endian");

using formats::CodeSign;
using formats::Element;
using formats::Scaling;

std::byte byte_of_code(const Element& element, uint16_t code) {
  const bool is_negative =
      element.code_sign == CodeSign::TwosComplement && (code >> (element.bits - 1)) != 0;
  return static_cast<std::byte>(is_negative ? code | (0xffu << element.bits) : code);
}

std::string hex(unsigned value) {
  std::ostringstream text;
  text << "0x" << std::hex << std::setw(2) << std::setfill('0') << value;
  return text.str();
}

/// The code stored in a byte. Throws BadFile when the byte is none.
uint16_t code_of_byte(const Element& element, std::byte byte, size_t position) {
  const auto code = static_cast<uint16_t>(static_cast<unsigned>(byte) & ((1u << element.bits) - 1));
  DRIFTLESS_REQUIRE(byte_of_code(element, code) == byte, ErrorCode::BadFile, "codec: byte ",
                    position, " is no code of ", element.bits, " bits; got ",
                    hex(static_cast<unsigned>(byte)));
  return code;
}

float require_finite(float value, size_t position) {
  DRIFTLESS_REQUIRE(std::isfinite(value), ErrorCode::BadFile, "codec: byte ", position,
                    " does not decode to a finite number; got ", value);
  return value;
}

void require_multiple(size_t size, size_t unit, const char* what) {
  DRIFTLESS_REQUIRE(size % unit == 0, ErrorCode::BadFile, "codec: size of the input; got ", size,
                    " bytes, expected a multiple of ", unit, " (", what, ")");
}

std::vector<std::byte> encode_elements(const Element& element, std::span<const float> values) {
  std::vector<std::byte> bytes;
  bytes.reserve(values.size() * (element.bits > 8 ? 2 : 1));
  for (size_t i = 0; i < values.size(); ++i) {
    DRIFTLESS_REQUIRE(std::isfinite(values[i]), ErrorCode::Numeric, "codec: value ", i,
                      " is not finite; got ", values[i], ", expected finite numbers");
    const uint16_t code = element.encode(values[i]);
    if (element.bits > 8) {
      bytes.push_back(static_cast<std::byte>(code & 0xff));
      bytes.push_back(static_cast<std::byte>(code >> 8));
    } else {
      bytes.push_back(byte_of_code(element, code));
    }
  }
  return bytes;
}

std::vector<float> decode_elements(const Element& element, std::span<const std::byte> bytes) {
  std::vector<float> values;
  if (element.bits <= 8) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      values.push_back(require_finite(element.decode(code_of_byte(element, bytes[i], i)), i));
    }
    return values;
  }
  require_multiple(bytes.size(), 2, "two bytes a value");
  for (size_t i = 0; i < bytes.size(); i += 2) {
    const auto code = static_cast<uint16_t>(static_cast<unsigned>(bytes[i]) |
                                            static_cast<unsigned>(bytes[i + 1]) << 8);
    values.push_back(require_finite(element.decode(code), i));
  }
  return values;
}

size_t scale_bytes(const QuantSpec& spec) {
  return spec.has_scale_codes() ? static_cast<size_t>(formats::scale_bits(spec.scale)) / 8 : 1;
}

void put_scale(const QuantizedMatrix& matrix, size_t index, std::vector<std::byte>& bytes) {
  const formats::ScaleFormat format = matrix.spec.scale;
  const uint16_t code = matrix.spec.has_scale_codes()
                            ? formats::encode_scale(format, matrix.scales.floats[index].scale)
                            : matrix.scales.codes[index];
  bytes.push_back(static_cast<std::byte>(code & 0xff));
  if (scale_bytes(matrix.spec) == 2) bytes.push_back(static_cast<std::byte>(code >> 8));
}

/// Appends the scale stored at `bytes`. Throws BadFile where it is none.
void take_scale(std::span<const std::byte> bytes, size_t position, QuantizedMatrix& matrix) {
  auto code = static_cast<uint16_t>(bytes[0]);
  if (!matrix.spec.has_scale_codes())
    return matrix.scales.codes.push_back(static_cast<uint8_t>(code));
  if (bytes.size() == 2) code = static_cast<uint16_t>(code | static_cast<unsigned>(bytes[1]) << 8);
  DRIFTLESS_REQUIRE(formats::is_scale_code(matrix.spec.scale, code), ErrorCode::BadFile,
                    "codec: byte ", position, " is no scale of '", to_string(matrix.spec),
                    "'; got ", hex(code));
  matrix.scales.floats.push_back({.scale = formats::decode_scale(matrix.spec.scale, code)});
}

std::vector<std::byte> encode_blocks(const QuantSpec& spec, std::span<const float> values) {
  const auto quantized =
      Quantizer(spec).quantize({values.data(), 1, static_cast<int64_t>(values.size())});
  const auto block = static_cast<size_t>(spec.group);
  std::vector<std::byte> bytes;
  if (spec.format->scaling == Scaling::TwoLevel && !values.empty()) {
    bytes.resize(sizeof(float));
    std::memcpy(bytes.data(), &quantized.scales.tensor_scale, sizeof(float));
  }
  for (size_t first = 0, index = 0; first < values.size(); first += block, ++index) {
    put_scale(quantized, index, bytes);
    for (size_t i = first; i < first + block; ++i) {
      const uint8_t code = i < values.size() ? quantized.codes[i] : uint8_t{0};
      bytes.push_back(byte_of_code(spec.format->element, code));
    }
  }
  return bytes;
}

std::vector<float> decode_blocks(const QuantSpec& spec, std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  const auto block = static_cast<size_t>(spec.group);
  QuantizedMatrix matrix{.spec = spec, .rows = 1};
  size_t start = 0;
  if (spec.format->scaling == Scaling::TwoLevel) {
    start = sizeof(float);
    DRIFTLESS_REQUIRE(bytes.size() >= start, ErrorCode::BadFile, "codec: size of the input; got ",
                      bytes.size(), " bytes, expected a tensor scale of 4 bytes first");
    std::memcpy(&matrix.scales.tensor_scale, bytes.data(), start);
    require_finite(matrix.scales.tensor_scale, 0);
  }
  const size_t scale_size = scale_bytes(spec);
  require_multiple(bytes.size() - start, scale_size + block, "a scale and a block of codes");
  for (size_t at = start, index = 0; at < bytes.size(); at += scale_size + block, ++index) {
    take_scale(bytes.subspan(at, scale_size), at, matrix);
    const float scale = run_scale(matrix, static_cast<int64_t>(index)).scale;
    require_finite(scale, at);
    for (size_t i = at + scale_size; i < at + scale_size + block; ++i) {
      const uint16_t code = code_of_byte(spec.format->element, bytes[i], i);
      require_finite(spec.format->element.decode(code) * scale, i);
      matrix.codes.push_back(static_cast<uint8_t>(code));
    }
  }
  matrix.cols = static_cast<int64_t>(matrix.codes.size());
  std::vector<float> values(matrix.codes.size());
  dequantize(matrix, {values.data(), 1, matrix.cols});
  return values;
}

}  // namespace

QuantSpec parse_codec_spec(std::string_view text) {
  const bool is_plain_name = text.find_first_of("/,") == std::string_view::npos;
  if (is_plain_name) {
    const formats::Format& format = formats::format_by_name(text);
    if (format.scaling == Scaling::None) return {.format = &format};
  }
  const QuantSpec spec = parse_quant_spec(text);
  DRIFTLESS_REQUIRE(spec.is_in_blocks(), ErrorCode::InvalidArgument, "codec: format '", text,
                    "' needs float scales, which the byte form has no place ",
                    "for; expected a block format or the plain name of an element format");
  DRIFTLESS_REQUIRE(spec.window == kNoWindow, ErrorCode::InvalidArgument, "codec: format '", text,
                    "' has a window over rows, and bytes have none; expected no window");
  return spec;
}

std::vector<std::byte> encode_bytes(const QuantSpec& spec, std::span<const float> values) {
  if (!spec.is_in_blocks()) return encode_elements(spec.format->element, values);
  return encode_blocks(spec, values);
}

std::vector<float> decode_bytes(const QuantSpec& spec, std::span<const std::byte> bytes) {
  if (!spec.is_in_blocks()) return decode_elements(spec.format->element, bytes);
  return decode_blocks(spec, bytes);
}

}  // namespace driftless::quant
