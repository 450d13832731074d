// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/terminal/streams.h"

#include "driftless/base/files/file.h"

namespace driftless::cli {

void write_output(const std::string& path, std::span<const std::byte> bytes) {
  if (path.empty()) return;
  if (path != kStandardStream) return write_file_atomic(path, bytes);
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);  // main checks what became of it
}

void write_output(const std::string& path, std::string_view text) {
  write_output(path, std::as_bytes(std::span(text)));
}

std::FILE* stream_beside(const std::string& output) {
  return output == kStandardStream ? stderr : stdout;
}

}  // namespace driftless::cli
