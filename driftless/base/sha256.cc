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
#include "driftless/base/file.h"

namespace driftless {
namespace {

// The first 32 fraction bits of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

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
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
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

}  // namespace

void Sha256::add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const size_t filled = size_ % kBlockBytes;
    if (filled == 0 && bytes.size() >= kBlockBytes) {
      digest_block(state_, bytes.data());
      size_ += kBlockBytes;
      bytes = bytes.subspan(kBlockBytes);
      continue;
    }
    const size_t part = std::min(bytes.size(), kBlockBytes - filled);
    std::copy_n(bytes.begin(), part, rest_.begin() + static_cast<std::ptrdiff_t>(filled));
    size_ += part;
    bytes = bytes.subspan(part);
    if (filled + part == kBlockBytes) digest_block(state_, rest_.data());
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
  for (size_t at = 0; at < tail.size(); at += kBlockBytes) digest_block(state, tail.data() + at);

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
