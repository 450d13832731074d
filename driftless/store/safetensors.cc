// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/base/files/input_file.h"
#include "driftless/base/text/json.h"
#include "driftless/base/text/quote.h"
#include "driftless/store/safetensors_header.h"

namespace driftless::store {
namespace {

using Json = nlohmann::json;

constexpr size_t kLengthBytes = 8;
/// Parsed JSON takes several times its text; no model here has a header near this size.
constexpr uint64_t kMaxHeaderBytes = 16 << 20;
constexpr std::string_view kMetadataKey = "__metadata__";

struct Entry {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  uint64_t begin;  // offsets from the start of the data
  uint64_t end;
};

/// The length that the first bytes of a file state, which has `file_bytes` in all.
uint64_t header_length(std::span<const std::byte> start, uint64_t file_bytes,
                       std::string_view where) {
  DRIFTLESS_REQUIRE(start.size() >= kLengthBytes, ErrorCode::BadFile, where,
                    ": too short for a safetensors file; got ", start.size(),
                    " bytes, expected at least ", kLengthBytes);
  uint64_t length = 0;
  std::memcpy(&length, start.data(), sizeof(length));
  const uint64_t available = file_bytes - std::min<uint64_t>(file_bytes, kLengthBytes);
  DRIFTLESS_REQUIRE(length <= available && length <= kMaxHeaderBytes, ErrorCode::BadFile, where,
                    ": header does not fit the file; got a length of ", length,
                    " bytes, expected at most ", std::min(available, kMaxHeaderBytes),
                    "; not a safetensors file, or cut short");
  return length;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

uint64_t unsigned_of(const Json& value, const std::string& place) {
  DRIFTLESS_REQUIRE(value.is_number_unsigned(), ErrorCode::BadFile, place, "; got ",
                    quote(value.dump(-1, ' ', true, Json::error_handler_t::replace)),
                    ", expected an integer >= 0");
  return value.get<uint64_t>();
}

const Json& member(const Json& object, const char* key, const std::string& place) {
  const auto found = object.find(key);
  DRIFTLESS_REQUIRE(found != object.end(), ErrorCode::BadFile, place, ": missing key '", key, "'");
  return *found;
}

DType dtype_of(const Json& value, const std::string& place) {
  DRIFTLESS_REQUIRE(value.is_string(), ErrorCode::BadFile, place, ": dtype is not a string");
  const auto& name = value.get_ref<const std::string&>();
  for (const DTypeInfo& row : kDTypes)
    if (row.name == name) return row.dtype;
  fail(ErrorCode::Unsupported, place, ": unknown dtype; got ", quote(name));
}

std::vector<int64_t> shape_of(const Json& value, const std::string& place) {
  constexpr size_t kMaxRank = 8;
  DRIFTLESS_REQUIRE(value.is_array() && value.size() <= kMaxRank, ErrorCode::BadFile, place,
                    ": shape is not an array of at most ", kMaxRank, " extents");
  std::vector<int64_t> shape;
  for (const Json& extent : value) {
    const uint64_t number = unsigned_of(extent, place + ": shape");
    DRIFTLESS_REQUIRE(std::in_range<int64_t>(number), ErrorCode::BadFile, place,
                      ": extent is too large; got ", number);
    shape.push_back(static_cast<int64_t>(number));
  }
  return shape;
}

Entry entry_of(const std::string& name, const Json& value, uint64_t data_bytes,
               std::string_view where) {
  const std::string place = std::string(where) + ": tensor " + quote(name);
  DRIFTLESS_REQUIRE(value.is_object(), ErrorCode::BadFile, place, ": entry is not an object");
  Entry entry{name, dtype_of(member(value, "dtype", place), place),
              shape_of(member(value, "shape", place), place), 0, 0};
  DRIFTLESS_REQUIRE(value.size() == 3, ErrorCode::BadFile, place,
                    ": unknown key; expected only dtype, shape and data_offsets");
  const Json& offsets = member(value, "data_offsets", place);
  DRIFTLESS_REQUIRE(offsets.is_array() && offsets.size() == 2, ErrorCode::BadFile, place,
                    ": data_offsets is not a pair");
  entry.begin = unsigned_of(offsets[0], place + ": data_offsets");
  entry.end = unsigned_of(offsets[1], place + ": data_offsets");
  DRIFTLESS_REQUIRE(entry.begin <= entry.end && entry.end <= data_bytes, ErrorCode::BadFile, place,
                    ": lies outside the file; got bytes ", entry.begin, " to ", entry.end,
                    ", expected within ", data_bytes);
  const auto expected = byte_count(entry.dtype, entry.shape);
  DRIFTLESS_REQUIRE(expected && std::cmp_equal(entry.end - entry.begin, *expected),
                    ErrorCode::BadFile, place, ": size does not match its shape; got ",
                    entry.end - entry.begin, " bytes, expected ", info(entry.dtype).name, " ",
                    shape_text(entry.shape));
  return entry;
}

void require_exact_cover(std::vector<Entry>& entries, uint64_t data_bytes, std::string_view where) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  uint64_t covered = 0;
  for (const Entry& entry : entries) {
    DRIFTLESS_REQUIRE(entry.begin == covered, ErrorCode::BadFile, where, ": tensor ",
                      quote(entry.name),
                      entry.begin < covered ? ": overlaps another" : ": leaves a gap before it",
                      "; got offset ", entry.begin, ", expected ", covered);
    covered = entry.end;
  }
  DRIFTLESS_REQUIRE(covered == data_bytes, ErrorCode::BadFile, where,
                    ": tensors do not cover the file; got ", covered, " bytes, expected ",
                    data_bytes);
}

Metadata metadata_of(const Json& value, std::string_view where) {
  DRIFTLESS_REQUIRE(value.is_object(), ErrorCode::BadFile, where,
                    ": __metadata__ is not an object");
  Metadata metadata;
  for (const auto& [key, text] : value.items()) {
    DRIFTLESS_REQUIRE(text.is_string(), ErrorCode::BadFile, where, ": metadata ", quote(key),
                      " is not a string");
    metadata.emplace(key, text.get_ref<const std::string&>());
  }
  return metadata;
}

struct Header {
  Metadata metadata;
  std::vector<Entry> entries;
};

/// Checks everything that does not need the data, of which there are `data_bytes`.
Header parse_header(std::string_view text, uint64_t data_bytes, const std::string& where) {
  const Json json = parse_json(text, where + ": header");
  DRIFTLESS_REQUIRE(json.is_object(), ErrorCode::BadFile, where, ": header is not a JSON object");
  Header header;
  for (const auto& [name, value] : json.items()) {
    if (name == kMetadataKey)
      header.metadata = metadata_of(value, where);
    else
      header.entries.push_back(entry_of(name, value, data_bytes, where));
  }
  require_exact_cover(header.entries, data_bytes, where);
  return header;
}

struct NamedTensor {
  const std::string* name;
  const TensorView* view;
};

/// In the order in which they are written.
std::vector<NamedTensor> file_order(const std::map<std::string, TensorView>& tensors) {
  std::vector<NamedTensor> order;
  order.reserve(tensors.size());
  for (const auto& [name, view] : tensors) order.push_back({&name, &view});
  std::stable_sort(order.begin(), order.end(), [](const NamedTensor& a, const NamedTensor& b) {
    return info(a.view->dtype).size_bytes > info(b.view->dtype).size_bytes;
  });
  return order;
}

std::string header_of(const std::vector<NamedTensor>& order, const Metadata& metadata,
                      const std::filesystem::path& path) try {
  std::string text = "{";
  const auto add = [&](std::string_view name, const nlohmann::ordered_json& value) {
    if (text.size() > 1) text += ',';
    text += Json(name).dump() + ":" + value.dump();
  };
  if (!metadata.empty()) add(kMetadataKey, metadata);
  size_t offset = 0;
  for (const auto& [name, view] : order) {
    const size_t end = offset + view->bytes.size();
    add(*name, {{"dtype", std::string(info(view->dtype).name)},
                {"shape", view->shape},
                {"data_offsets", {offset, end}}});
    offset = end;
  }
  text += '}';
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  return text;
} catch (const nlohmann::json::exception& error) {
  fail(ErrorCode::InvalidArgument, path.string(), ": a name or metadata is not UTF-8 text; got ",
       quote(error.what()));
}

void require_consistent(const std::string& name, const TensorView& view,
                        const std::filesystem::path& path) {
  for (const int64_t extent : view.shape)
    DRIFTLESS_REQUIRE(extent >= 0, ErrorCode::InvalidArgument, path.string(), ": tensor ",
                      quote(name), ": negative extent in ", shape_text(view.shape));
  const auto expected = byte_count(view.dtype, view.shape);
  DRIFTLESS_REQUIRE(
      name != kMetadataKey && expected && std::cmp_equal(view.bytes.size(), *expected),
      ErrorCode::InvalidArgument, path.string(), ": tensor ", quote(name),
      ": bytes do not match the shape; got ", view.bytes.size(), " bytes for ",
      info(view.dtype).name, " ", shape_text(view.shape));
}

}  // namespace

Safetensors::Safetensors(std::vector<std::byte> file, std::string where)
    : file_(std::move(file)), where_(std::move(where)) {
  const uint64_t length = header_length(file_, file_.size(), where_);
  const auto rest = std::span<const std::byte>(file_).subspan(kLengthBytes);
  const auto data = rest.subspan(length);
  Header header = parse_header(text_of(rest.first(length)), data.size(), where_);
  metadata_ = std::move(header.metadata);
  for (Entry& entry : header.entries)
    tensors_.emplace(entry.name, TensorView{entry.dtype, std::move(entry.shape),
                                            data.subspan(entry.begin, entry.end - entry.begin)});
}

Safetensors read_safetensors(const std::filesystem::path& path) {
  (void)read_safetensors_header(path);  // what is wrong with it shows before the rest is read
  return {read_file(path), path.string()};
}

SafetensorsHeader read_safetensors_header(const std::filesystem::path& path) {
  const std::string where = path.string();
  InputFile file(path);
  std::array<std::byte, kLengthBytes> start{};
  const size_t got = file.read(start);
  std::vector<std::byte> text(header_length(std::span(start).first(got), file.size(), where));
  file.read_all(text);
  Header header = parse_header(text_of(text), file.size() - kLengthBytes - text.size(), where);
  SafetensorsHeader shown{.where = where, .metadata = std::move(header.metadata), .tensors = {}};
  for (Entry& entry : header.entries)
    shown.tensors.emplace(entry.name, TensorView{entry.dtype, std::move(entry.shape), {}});
  return shown;
}

void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, TensorView>& tensors, const Metadata& metadata) {
  for (const auto& [name, view] : tensors) require_consistent(name, view, path);
  const std::vector<NamedTensor> order = file_order(tensors);
  const std::string header = header_of(order, metadata, path);
  std::vector<std::byte> file(kLengthBytes + header.size());
  const uint64_t length = header.size();
  std::memcpy(file.data(), &length, sizeof(length));
  std::memcpy(file.data() + kLengthBytes, header.data(), header.size());
  for (const auto& [name, view] : order)
    file.insert(file.end(), view->bytes.begin(), view->bytes.end());
  write_file_atomic(path, std::span<const std::byte>(file));
}

}  // namespace driftless::store
