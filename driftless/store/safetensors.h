// SPDX-License-Identifier: Apache-2.0
// The safetensors container: 8 bytes of header length, a JSON header, then the tensors' bytes
// without gaps.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/store/tensor.h"

namespace driftless::store {

using Metadata = std::map<std::string, std::string>;

/// A whole file in memory with views into it.
class Safetensors {
 public:
  /// Checks everything before it keeps anything: header length, JSON, element types, shapes, and
  /// that the tensors cover the data exactly once. `where` starts every message. Throws BadFile, or
  /// Unsupported for an element type outside kDTypes.
  Safetensors(std::vector<std::byte> file, std::string where);

  // Views point into the file's bytes, which a copy would not share.
  Safetensors(const Safetensors&) = delete;
  Safetensors& operator=(const Safetensors&) = delete;
  Safetensors(Safetensors&&) = default;
  Safetensors& operator=(Safetensors&&) = default;
  ~Safetensors() = default;

  [[nodiscard]] const Metadata& metadata() const { return metadata_; }
  [[nodiscard]] const std::map<std::string, TensorView>& tensors() const { return tensors_; }
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  std::vector<std::byte> file_;
  std::string where_;
  Metadata metadata_;
  std::map<std::string, TensorView> tensors_;
};

/// Throws Io, BadFile or Unsupported.
Safetensors read_safetensors(const std::filesystem::path& path);

/// Writes atomically. Tensors follow each other by element size, largest first, then by name, so
/// that each starts at a multiple of its element size. Throws InvalidArgument where a view's bytes
/// do not match its shape, Io where the file cannot be written.
void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, TensorView>& tensors, const Metadata& metadata);

}  // namespace driftless::store
