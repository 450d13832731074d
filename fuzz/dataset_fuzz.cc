// SPDX-License-Identifier: Apache-2.0
// A data-set folder from anywhere: an Error or rows of tokens within the vocabulary. The input is
// its files one after another, each with two bytes of length before it.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "driftless/base/error.h"
#include "driftless/store/dataset/dataset.h"

namespace {

constexpr std::array kNames = {"test/dataset.json",
                               "test/all__inputs.npy",
                               "test/all__labels.npy",
                               "test/all__puzzle_identifiers.npy",
                               "test/all__puzzle_indices.npy",
                               "test/all__group_indices.npy",
                               "identifiers.json"};

/// Of this process, in memory where the system has such a folder.
const std::filesystem::path& folder() {
  static const std::filesystem::path path = [] {
    const std::filesystem::path base =
        std::filesystem::exists("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
    const auto made = base / ("driftless-fuzz-" + std::to_string(::getpid()));
    std::filesystem::create_directories(made / "test");
    std::atexit([] { std::filesystem::remove_all(folder()); });
    return made;
  }();
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const char* const name : kNames) {
    const size_t asked = size < 2 ? 0 : size_t{data[0]} << 8 | data[1];
    const size_t length = size < 2 ? 0 : std::min(asked, size - 2);
    std::ofstream file(folder() / name, std::ios::binary | std::ios::trunc);
    if (size >= 2) file.write(reinterpret_cast<const char*>(data + 2), std::streamsize(length));
    const size_t taken = size < 2 ? size : length + 2;
    data += taken;
    size -= taken;
  }
  try {
    const auto set = driftless::store::read_dataset(folder(), "test");
    for (const auto& row : driftless::store::rows_of(set))
      for (const uint8_t token : row.input)
        if (token >= set.vocab_size) std::abort();
  } catch (const driftless::Error&) {
  }
  return 0;
}
