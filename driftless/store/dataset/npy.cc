// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/dataset/npy.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"

namespace driftless::store {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxNpyRank = 8;

struct NpyType {
  std::string_view descr;
  DType dtype;
};
constexpr NpyType kTypes[] = {
    {"|u1", DType::U8}, {"<i4", DType::I32}, {"<i8", DType::I64}, {"<f4", DType::F32}};

struct NpyHeader {
  std::optional<DType> dtype;
  std::optional<std::vector<int64_t>> shape;
  bool has_order = false;
};

/// Walks the header: the text of a Python dictionary of three entries.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view where) : rest_(text), where_(where) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      parse_entry();
      if (accept('}')) break;
      expect(',');
    }
    skip_spaces();
    if (!rest_.empty()) malformed("the end");
    return std::move(header_);
  }

 private:
  void parse_entry() {
    const std::string_view key = parse_string();
    expect(':');
    if (key == "descr" && !header_.dtype) {
      header_.dtype = parse_dtype();
    } else if (key == "fortran_order" && !header_.has_order) {
      require_row_major();
    } else if (key == "shape" && !header_.shape) {
      header_.shape = parse_shape();
    } else {
      fail(ErrorCode::BadFile, where_, ": header has an unknown or repeated key; got ", quote(key),
           ", expected descr, fortran_order and shape once each");
    }
  }

  DType parse_dtype() {
    const std::string_view descr = parse_string();
    for (const NpyType& row : kTypes)
      if (row.descr == descr) return row.dtype;
    fail(ErrorCode::Unsupported, where_, ": element type; got ", quote(descr),
         ", expected |u1, <i4, <i8 or <f4");
  }

  void require_row_major() {
    header_.has_order = true;
    if (accept_word("False")) return;
    if (accept_word("True"))
      fail(ErrorCode::Unsupported, where_,
           ": array is in Fortran order; expected C order, as numpy.ascontiguousarray makes it");
    malformed("True or False");
  }

  std::vector<int64_t> parse_shape() {
    std::vector<int64_t> shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(parse_extent());
      DRIFTLESS_REQUIRE(shape.size() <= kMaxNpyRank, ErrorCode::BadFile, where_,
                        ": too many dimensions; expected at most ", kMaxNpyRank);
      if (accept(')')) break;
      expect(',');
    }
    return shape;
  }

  int64_t parse_extent() {
    skip_spaces();
    const size_t length = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    const auto value = parse_int(rest_.substr(0, length));
    if (!value) malformed("an extent");
    rest_.remove_prefix(length);
    return *value;
  }

  std::string_view parse_string() {
    expect('\'');
    const size_t end = rest_.find('\'');
    if (end == std::string_view::npos) malformed("a closing quote");
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool accept_word(std::string_view word) {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool accept(char c) { return accept_word({&c, 1}); }
  void expect(char c) {
    if (!accept(c)) malformed(quote({&c, 1}));
  }
  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
  }
  [[noreturn]] void malformed(std::string_view expected) const {
    fail(ErrorCode::BadFile, where_, ": malformed header; got ", quote(rest_), ", expected ",
         expected);
  }

  std::string_view rest_;
  std::string_view where_;
  NpyHeader header_;
};

/// Splits the file after its header; version 1 has 2 bytes of header length, 2 and 3 have 4.
std::pair<std::string_view, std::span<const std::byte>> split_header(
    std::span<const std::byte> file, std::string_view where) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  constexpr size_t kVersionAt = kMagic.size();
  DRIFTLESS_REQUIRE(text.starts_with(kMagic) && file.size() >= kVersionAt + 2, ErrorCode::BadFile,
                    where, ": not an npy file; got ", quote(text.substr(0, kMagic.size())));
  const int version = static_cast<int>(file[kVersionAt]);
  DRIFTLESS_REQUIRE(version >= 1 && version <= 3, ErrorCode::Unsupported, where,
                    ": npy version; got ", version, ", expected 1, 2 or 3");
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t header_at = kVersionAt + 2 + length_bytes;
  DRIFTLESS_REQUIRE(file.size() >= header_at, ErrorCode::BadFile, where,
                    ": cut short before the header");
  uint32_t length = 0;
  std::memcpy(&length, file.data() + kVersionAt + 2, length_bytes);
  DRIFTLESS_REQUIRE(length <= file.size() - header_at, ErrorCode::BadFile, where,
                    ": header does not fit the file; got a length of ", length,
                    ", expected at most ", file.size() - header_at);
  return {text.substr(header_at, length), file.subspan(header_at + length)};
}

template <class Raw>
std::vector<int64_t> widen(std::span<const std::byte> bytes) {
  std::vector<int64_t> values(bytes.size() / sizeof(Raw));
  for (size_t i = 0; i < values.size(); ++i) {
    Raw raw{};
    std::memcpy(&raw, bytes.data() + i * sizeof(Raw), sizeof(Raw));
    values[i] = raw;
  }
  return values;
}

}  // namespace

TensorView parse_npy(std::span<const std::byte> file, std::string_view where) {
  const auto [text, data] = split_header(file, where);
  NpyHeader header = HeaderParser(text, where).parse();
  DRIFTLESS_REQUIRE(header.dtype && header.shape && header.has_order, ErrorCode::BadFile, where,
                    ": header lacks a key; expected descr, fortran_order and shape");
  const auto expected = byte_count(*header.dtype, *header.shape);
  DRIFTLESS_REQUIRE(expected && std::cmp_equal(data.size(), *expected), ErrorCode::BadFile, where,
                    ": data does not match the shape; got ", data.size(), " bytes, expected ",
                    info(*header.dtype).name, " ", shape_text(*header.shape));
  return {*header.dtype, std::move(*header.shape), data};
}

std::vector<int64_t> to_integers(const TensorView& tensor, std::string_view where) {
  switch (tensor.dtype) {
    case DType::U8:
      return widen<uint8_t>(tensor.bytes);
    case DType::I32:
      return widen<int32_t>(tensor.bytes);
    case DType::I64:
      return widen<int64_t>(tensor.bytes);
    default:
      fail(ErrorCode::Unsupported, where, ": wrong element type; got ", info(tensor.dtype).name,
           ", expected U8, I32 or I64");
  }
}

std::string to_npy(const TensorView& tensor) {
  constexpr size_t kAlignment = 64;  // of the data, as NumPy writes it
  const auto type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                 [&](const NpyType& row) { return row.dtype == tensor.dtype; });
  DRIFTLESS_REQUIRE(type != std::end(kTypes), ErrorCode::Unsupported, "npy: element type; got ",
                    info(tensor.dtype).name, ", expected U8, I32, I64 or F32");
  std::string header =
      "{'descr': '" + std::string(type->descr) + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    header += (i == 0 ? "" : " ") + std::to_string(tensor.shape[i]) + ",";
  header += "), }";
  const size_t start = kMagic.size() + 4;  // version and length of the header
  header.append((kAlignment - (start + header.size() + 1) % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string file(kMagic);
  file += {1, 0, static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
  file += header;
  file.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  return file;
}

}  // namespace driftless::store
