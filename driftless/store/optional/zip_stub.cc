// SPDX-License-Identifier: Apache-2.0
// Stands in for zip.cc where libzip is absent.
#include "driftless/base/error.h"
#include "driftless/store/torch/zip.h"

namespace driftless::store {

struct ZipArchive::Handle {};

ZipArchive::ZipArchive(const std::filesystem::path& path) : where_(path.string()) {
  fail(ErrorCode::Unsupported, where_,
       ": this build cannot read PyTorch files; install libzip (Debian: libzip-dev) and build "
       "again");
}

ZipArchive::~ZipArchive() = default;

std::vector<std::byte> ZipArchive::read(std::string_view name) {
  fail(ErrorCode::Internal, where_, ": entry ", name, " read without libzip");
}

}  // namespace driftless::store
