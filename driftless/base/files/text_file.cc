// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/files/text_file.h"

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/base/text/text.h"

namespace driftless {

std::string read_text(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  const bool is_gzip =
      bytes.size() > 1 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
  DRIFTLESS_REQUIRE(!is_gzip, ErrorCode::BadFile, path.string(),
                    ": compressed with gzip, expected text; unpack it with gunzip first");
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  for (std::string_view& line : lines)
    if (line.ends_with('\r')) line.remove_suffix(1);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace driftless
