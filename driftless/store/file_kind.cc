// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/file_kind.h"

#include <array>
#include <span>
#include <string_view>

#include "driftless/base/error.h"
#include "driftless/base/files/input_file.h"

namespace driftless::store {

FileKind kind_of(const std::filesystem::path& path) {
  std::array<char, 8> start{};
  InputFile(path).read(std::as_writable_bytes(std::span(start)));
  const std::string_view magic(start.data(), start.size());
  DRIFTLESS_REQUIRE(!magic.starts_with("\x80\x02\x8a\x0a"), ErrorCode::Unsupported, path.string(),
                    ": a PyTorch file of the old format without zip; load and save it again with "
                    "torch 1.6 or newer");
  if (magic.starts_with("PK\x03\x04")) return FileKind::TorchZip;
  if (magic.starts_with("\x93NUMPY")) return FileKind::Npy;
  return FileKind::Safetensors;
}

}  // namespace driftless::store
