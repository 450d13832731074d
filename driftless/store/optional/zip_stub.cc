// SPDX-License-Identifier: Apache-2.0
// Stands in for zip.cc where libzip is absent: the few parts of the zip format that PyTorch's files
// use. Numbers are little-endian; every offset and length is checked before it is used.
#include <algorithm>
#include <array>
#include <utility>

#include "driftless/base/error.h"
#include "driftless/base/files/input_file.h"
#include "driftless/base/text/quote.h"
#include "driftless/store/torch/zip.h"

namespace driftless::store {
namespace {

using Bytes = std::vector<std::byte>;

constexpr uint64_t kEndSize = 22;
constexpr uint64_t kEntrySize = 46;
constexpr uint64_t kLocalSize = 30;
constexpr uint32_t kEndMark = 0x06054b50;
constexpr uint32_t kEntryMark = 0x02014b50;
constexpr uint32_t kLocalMark = 0x04034b50;

/// `count` bytes from `at` on as a number; the caller has checked that they are there.
uint32_t number(const Bytes& file, uint64_t at, int count) {
  uint32_t value = 0;
  for (int i = count; i-- > 0;)
    value = value << 8 | static_cast<uint32_t>(file[at + static_cast<uint64_t>(i)]);
  return value;
}

uint32_t checksum(std::span<const std::byte> bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> rows{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t row = i;
      for (int bit = 0; bit < 8; ++bit) row = (row & 1) != 0 ? row >> 1 ^ 0xedb88320u : row >> 1;
      rows[i] = row;
    }
    return rows;
  }();
  uint32_t value = 0xffffffffu;
  for (const std::byte byte : bytes)
    value = table[(value ^ static_cast<uint32_t>(byte)) & 0xff] ^ value >> 8;
  return ~value;
}

/// Where the end of the central directory stands; file.size() where there is none. A comment of up
/// to 65535 bytes may follow.
uint64_t find_end(const Bytes& file) {
  const uint64_t size = file.size();
  if (size < kEndSize) return size;
  const uint64_t first = size - std::min<uint64_t>(size, kEndSize + 0xffff);
  for (uint64_t at = size - kEndSize;; --at) {
    if (number(file, at, 4) == kEndMark && at + kEndSize + number(file, at + 20, 2) == size)
      return at;
    if (at == first) return size;
  }
}

struct Entry {
  std::string name;
  uint32_t flags, method, checksum, size, offset;
};

}  // namespace

struct ZipArchive::Handle {
  Bytes file{};
  std::vector<Entry> entries{};
  uint64_t bytes_left = 0;  // that may still be read
};

ZipArchive::ZipArchive(const std::filesystem::path& path)
    : handle_(std::make_unique<Handle>()), where_(path.string()) {
  InputFile input(path);
  Bytes& file = handle_->file;
  file.resize(input.size());
  input.read_all(file);
  handle_->bytes_left = file.size();
  const auto require = [&](bool is_sound) {
    DRIFTLESS_REQUIRE(is_sound, ErrorCode::BadFile, where_, ": not a readable zip archive");
  };
  const uint64_t end = find_end(file);
  require(end < file.size());
  const uint32_t count = number(file, end + 10, 2);
  uint64_t at = number(file, end + 16, 4);
  DRIFTLESS_REQUIRE(count != 0xffff && at != 0xffffffff, ErrorCode::Unsupported, where_,
                    ": an archive of more than 4 GB or 65534 entries; expected a smaller one");
  for (uint32_t i = 0; i < count; ++i) {
    require(at + kEntrySize <= end && number(file, at, 4) == kEntryMark);
    const uint64_t name = number(file, at + 28, 2);
    const uint64_t beyond = at + kEntrySize + name;
    require(beyond <= end);
    const auto* const text = reinterpret_cast<const char*>(file.data() + at + kEntrySize);
    names_.emplace_back(text, static_cast<size_t>(name));
    handle_->entries.push_back({names_.back(), number(file, at + 8, 2), number(file, at + 10, 2),
                                number(file, at + 16, 4), number(file, at + 24, 4),
                                number(file, at + 42, 4)});
    at = beyond + number(file, at + 30, 2) + number(file, at + 32, 2);
  }
}

ZipArchive::~ZipArchive() = default;

std::vector<std::byte> ZipArchive::read(std::string_view name) {
  const std::string place = where_ + ": entry " + quote(name);
  const Bytes& file = handle_->file;
  const auto entry = std::find_if(handle_->entries.begin(), handle_->entries.end(),
                                  [&](const Entry& each) { return each.name == name; });
  DRIFTLESS_REQUIRE(entry != handle_->entries.end(), ErrorCode::BadFile, place, ": missing");
  DRIFTLESS_REQUIRE(entry->method == 0 && (entry->flags & 1) == 0, ErrorCode::Unsupported, place,
                    ": compressed or encrypted; expected a stored entry, as torch.save writes it");
  DRIFTLESS_REQUIRE(entry->size <= handle_->bytes_left, ErrorCode::BadFile, place,
                    ": larger than what is left of the file; got ", entry->size,
                    " bytes, expected at most ", handle_->bytes_left);
  handle_->bytes_left -= entry->size;
  const uint64_t local = entry->offset;
  const bool has_header = local + kLocalSize <= file.size() && number(file, local, 4) == kLocalMark;
  const uint64_t start =
      has_header ? local + kLocalSize + number(file, local + 26, 2) + number(file, local + 28, 2)
                 : file.size();
  const uint64_t left = start <= file.size() ? file.size() - start : 0;
  const auto first = file.begin() + static_cast<int64_t>(std::min<uint64_t>(start, file.size()));
  Bytes bytes(first, first + static_cast<int64_t>(std::min<uint64_t>(entry->size, left)));
  DRIFTLESS_REQUIRE(has_header && bytes.size() == entry->size && checksum(bytes) == entry->checksum,
                    ErrorCode::BadFile, place, ": damaged; got ", bytes.size(), " bytes, expected ",
                    entry->size, " with the right checksum");
  return bytes;
}

}  // namespace driftless::store
