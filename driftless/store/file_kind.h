// SPDX-License-Identifier: Apache-2.0
// What a file is, by its first bytes.
#pragma once

#include <filesystem>

namespace driftless::store {

enum class FileKind { Safetensors, TorchZip, Npy };

/// Whatever has no magic is taken for safetensors, whose reader is strict. Throws Unsupported for
/// the PyTorch files of before 1.6, Io as InputFile does.
FileKind kind_of(const std::filesystem::path& path);

}  // namespace driftless::store
