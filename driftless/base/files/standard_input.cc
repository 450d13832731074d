// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/files/standard_input.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"

namespace driftless {
namespace {

std::string read_all(std::FILE* stream) {
  std::string text;
  std::array<char, 65536> part{};
  for (size_t got = 0; (got = std::fread(part.data(), 1, part.size(), stream)) > 0;)
    text.append(part.data(), got);
  DRIFTLESS_REQUIRE(std::ferror(stream) == 0, ErrorCode::Io, kStandardInput, ": cannot read; got ",
                    std::strerror(errno));
  return text;
}

}  // namespace

const std::string& standard_input() {
  static const std::string text = read_all(stdin);
  return text;
}

std::vector<std::byte> read_input(const std::string& path) {
  if (path != kStandardStream) return read_file(path);
  const auto bytes = std::as_bytes(std::span(standard_input()));
  return {bytes.begin(), bytes.end()};
}

}  // namespace driftless
