// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/sha256.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <system_error>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/base/sha256_blocks.h"

namespace driftless {
namespace {

using State = std::array<uint32_t, 8>;

void digest_block(State& state, const std::byte* block) {
  std::array<uint32_t, 64> w{};
  for (size_t i = 0; i < 64; ++i) {
    if (i < 16) {
      for (size_t byte = 0; byte < 4; ++byte)
        w[i] = (w[i] << 8) | static_cast<uint32_t>(block[4 * i + byte]);
      continue;
    }
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kSha256Rounds[i] + w[i];
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const State round = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state[i] += round[i];
}

void digest_blocks(State& state, const std::byte* blocks, size_t count) {
  static const DigestBlocks fast = fast_digest_blocks();
  if (fast != nullptr) return fast(state, blocks, count);
  for (size_t i = 0; i < count; ++i) digest_block(state, blocks + 64 * i);
}

}  // namespace

void Sha256::add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const size_t filled = size_ % kBlockBytes;
    if (filled == 0 && bytes.size() >= kBlockBytes) {
      const size_t whole = bytes.size() / kBlockBytes;
      digest_blocks(state_, bytes.data(), whole);
      size_ += whole * kBlockBytes;
      bytes = bytes.subspan(whole * kBlockBytes);
      continue;
    }
    const size_t part = std::min(bytes.size(), kBlockBytes - filled);
    std::copy_n(bytes.begin(), part, rest_.begin() + static_cast<std::ptrdiff_t>(filled));
    size_ += part;
    bytes = bytes.subspan(part);
    if (filled + part == kBlockBytes) digest_blocks(state_, rest_.data(), 1);
  }
}

std::string Sha256::hex() const {
  // The rest, a one bit, zeros, and the length in bits.
  std::vector<std::byte> tail(rest_.begin(),
                              rest_.begin() + static_cast<std::ptrdiff_t>(size_ % kBlockBytes));
  tail.push_back(std::byte{0x80});
  while (tail.size() % kBlockBytes != kBlockBytes - 8) tail.push_back(std::byte{0});
  for (int shift = 56; shift >= 0; shift -= 8)
    tail.push_back(static_cast<std::byte>((size_ * 8 >> shift) & 0xff));
  State state = state_;
  digest_blocks(state, tail.data(), tail.size() / kBlockBytes);

  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(64);
  for (const uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[(word >> shift) & 0xf];
  return text;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

std::string sha256_of_file(const std::filesystem::path& path) {
  return sha256_hex(read_file(path));
}

std::string sha256_of_path(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(path)) return sha256_of_file(path);
  std::map<std::string, std::string> hashes;
  std::error_code error;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end;
       at.increment(error))
    if (at->is_regular_file())
      hashes[at->path().lexically_relative(path).generic_string()] = sha256_of_file(at->path());
  DRIFTLESS_REQUIRE(!error, ErrorCode::Io, path.string(), ": cannot read; ", error.message());
  std::string text;
  for (const auto& [name, hash] : hashes) text.append(hash).append("  ").append(name).append("\n");
  return sha256_hex(std::as_bytes(std::span(text)));
}

}  // namespace driftless
