// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/torch/zip.h"

#include <utility>

#include <zip.h>

#include "driftless/base/error.h"
#include "driftless/base/files/input_file.h"
#include "driftless/base/text/quote.h"

namespace driftless::store {
namespace {

struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
using OpenEntry = std::unique_ptr<zip_file_t, CloseEntry>;

/// libzip's words for an error code.
std::string reason_of(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

}  // namespace

struct ZipArchive::Handle {
  zip_t* zip = nullptr;
  uint64_t bytes_left = 0;  // that may still be read

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (zip != nullptr) zip_discard(zip);
  }
};

ZipArchive::ZipArchive(const std::filesystem::path& path)
    : handle_(std::make_unique<Handle>()), where_(path.string()) {
  handle_->bytes_left = InputFile(path).size();
  int code = 0;
  handle_->zip = zip_open(path.c_str(), ZIP_RDONLY, &code);
  DRIFTLESS_REQUIRE(handle_->zip != nullptr, ErrorCode::BadFile, where_,
                    ": not a readable zip archive; got '", reason_of(code), "'");
  const zip_int64_t count = zip_get_num_entries(handle_->zip, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(handle_->zip, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    DRIFTLESS_REQUIRE(name != nullptr, ErrorCode::BadFile, where_, ": entry ", i, " has no name");
    names_.emplace_back(name);
  }
}

ZipArchive::~ZipArchive() = default;

std::vector<std::byte> ZipArchive::read(std::string_view name) {
  const std::string place = where_ + ": entry " + quote(name);
  zip_stat_t status;
  DRIFTLESS_REQUIRE(zip_stat(handle_->zip, std::string(name).c_str(), 0, &status) == 0,
                    ErrorCode::BadFile, place, ": missing");
  DRIFTLESS_REQUIRE(status.comp_method == ZIP_CM_STORE && status.encryption_method == ZIP_EM_NONE,
                    ErrorCode::Unsupported, place,
                    ": compressed or encrypted; expected a stored entry, as torch.save writes it");
  DRIFTLESS_REQUIRE(status.size <= handle_->bytes_left, ErrorCode::BadFile, place,
                    ": larger than what is left of the file; got ", status.size,
                    " bytes, expected at most ", handle_->bytes_left);
  handle_->bytes_left -= status.size;
  const OpenEntry entry(zip_fopen_index(handle_->zip, status.index, 0));
  DRIFTLESS_REQUIRE(entry != nullptr, ErrorCode::BadFile, place, ": cannot open; got '",
                    zip_strerror(handle_->zip), "'");
  std::vector<std::byte> bytes(status.size);
  const zip_int64_t got = zip_fread(entry.get(), bytes.data(), bytes.size());
  // One read more reaches the end, which is where libzip compares the checksum.
  std::byte beyond{};
  const bool is_whole =
      std::cmp_equal(got, bytes.size()) && zip_fread(entry.get(), &beyond, 1) == 0;
  DRIFTLESS_REQUIRE(is_whole, ErrorCode::BadFile, place, ": damaged; got ", got,
                    " bytes, expected ", bytes.size(), " with the right checksum");
  return bytes;
}

}  // namespace driftless::store
