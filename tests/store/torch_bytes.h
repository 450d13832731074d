// SPDX-License-Identifier: Apache-2.0
// PyTorch archives for tests, from checkpoints and by hand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/base/files/file.h"
#include "driftless/store/checkpoint.h"

#include "tests/store/pickle_bytes.h"
#include "tests/store/zip_bytes.h"
#include "tests/testing/bytes.h"

namespace driftless::store::testing {

/// Collects storages while a pickle is written.
struct TorchArchive {
  std::vector<ZipEntry> storages;

  /// The pickle of a float32 tensor; `bias` is added to every value.
  std::string tensor(const Tensor& value, float bias) {
    std::string data;
    for (const float x : value.values) data += driftless::testing::little_endian(x + bias);
    const std::string key = std::to_string(storages.size());
    storages.push_back({"archive/data/" + key, data});
    const auto count = static_cast<int32_t>(value.values.size());
    return op::global("torch._utils", "_rebuild_tensor_v2") +
           op::tuple(op::storage("FloatStorage", key, count) + op::integer(0) +
                     extents(value.shape) + extents(row_major(value.shape)) + "\x89" +
                     op::ordered_dict("")) +
           "R";
  }

  /// The items of a state dict, each key behind `prefix`.
  std::string items(const TensorMap& tensors, const std::string& prefix, float bias = 0) {
    std::string items;
    for (const auto& [name, value] : tensors)
      items += op::text(prefix + name) + tensor(value, bias);
    return items;
  }

  [[nodiscard]] std::string file(const std::string& body) const {
    std::vector<ZipEntry> entries = {{"archive/data.pkl", op::whole(body)},
                                     {"archive/byteorder", "little"}};
    entries.insert(entries.end(), storages.begin(), storages.end());
    entries.push_back({"archive/version", "3\n"});
    return zip_bytes(entries);
  }

 private:
  static std::string extents(const std::vector<int64_t>& numbers) {
    std::string items;
    for (const int64_t number : numbers) items += op::integer(static_cast<int32_t>(number));
    return op::tuple(items);
  }
  static std::vector<int64_t> row_major(const std::vector<int64_t>& shape) {
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    return strides;
  }
};

}  // namespace driftless::store::testing
