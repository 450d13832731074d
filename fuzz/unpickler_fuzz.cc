// SPDX-License-Identifier: Apache-2.0
// The restricted unpickler on arbitrary bytes: an Error, or values whose references and tensors are
// in range.
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "driftless/base/error.h"
#include "driftless/store/torch/pickle.h"

namespace {

using namespace driftless::store;

void check(bool is_true) {
  if (!is_true) __builtin_trap();
}

void check_tensor(const PickleTensor& tensor) {
  const auto count = element_count(tensor.shape);
  check(count.has_value() && *count <= tensor.storage.element_count);
  if (*count == 0) return;
  int64_t last = tensor.offset;
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    last += (tensor.shape[i] - 1) * tensor.strides[i];
  check(last >= 0 && last < tensor.storage.element_count);
}

void check_value(const Pickle& pickle, const PickleValue& value) {
  const size_t count = pickle.values.size();
  if (const auto* list = std::get_if<PickleList>(&value))
    for (const PickleRef item : list->items) check(item < count);
  if (const auto* tuple = std::get_if<PickleTuple>(&value))
    for (const PickleRef item : tuple->items) check(item < count);
  if (const auto* dict = std::get_if<PickleDict>(&value))
    for (const auto& [key, item] : dict->items) check(key < count && item < count);
  if (const auto* tensor = std::get_if<PickleTensor>(&value)) check_tensor(*tensor);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const Pickle pickle = parse_pickle(std::as_bytes(std::span(data, size)), "fuzz");
    check(pickle.root < pickle.values.size());
    for (const PickleValue& value : pickle.values) check_value(pickle, value);
    find_item(pickle, pickle.at(pickle.root), "model");
  } catch (const driftless::Error&) {
  }
  return 0;
}
