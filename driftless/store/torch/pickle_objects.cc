// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/torch/pickle_objects.h"

#include <algorithm>
#include <array>
#include <string>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"

namespace driftless::store {
namespace {

constexpr size_t kMaxTupleRank = 8;

/// Opaque rows are those of the training state that EqR saves beside the weights.
enum class GlobalKind { OrderedDict, RebuildTensor, RebuildParameter, StorageType, Opaque };

struct GlobalRow {
  std::string_view module;
  std::string_view name;
  GlobalKind kind;
  DType dtype = DType::F32;  // StorageType only
};

constexpr std::array kGlobals = {
    GlobalRow{"collections", "OrderedDict", GlobalKind::OrderedDict},
    GlobalRow{"torch._utils", "_rebuild_tensor_v2", GlobalKind::RebuildTensor},
    GlobalRow{"torch._utils", "_rebuild_parameter", GlobalKind::RebuildParameter},
    GlobalRow{"torch", "FloatStorage", GlobalKind::StorageType, DType::F32},
    GlobalRow{"torch", "BFloat16Storage", GlobalKind::StorageType, DType::BF16},
    GlobalRow{"torch", "HalfStorage", GlobalKind::StorageType, DType::F16},
    GlobalRow{"torch", "DoubleStorage", GlobalKind::StorageType, DType::F64},
    GlobalRow{"torch", "LongStorage", GlobalKind::StorageType, DType::I64},
    GlobalRow{"torch", "IntStorage", GlobalKind::StorageType, DType::I32},
    GlobalRow{"torch", "ShortStorage", GlobalKind::StorageType, DType::I16},
    GlobalRow{"torch", "CharStorage", GlobalKind::StorageType, DType::I8},
    GlobalRow{"torch", "ByteStorage", GlobalKind::StorageType, DType::U8},
    GlobalRow{"torch", "BoolStorage", GlobalKind::StorageType, DType::Bool},
    GlobalRow{"models.eqr", "ModelCarry", GlobalKind::Opaque},
    GlobalRow{"models.eqr", "LatentCarry", GlobalKind::Opaque},
    GlobalRow{"models.trm", "ModelCarry", GlobalKind::Opaque},
    GlobalRow{"models.trm", "LatentCarry", GlobalKind::Opaque},
    GlobalRow{"numpy", "ndarray", GlobalKind::Opaque},
    GlobalRow{"numpy", "dtype", GlobalKind::Opaque},
    GlobalRow{"numpy.core.multiarray", "_reconstruct", GlobalKind::Opaque},
    GlobalRow{"numpy._core.multiarray", "_reconstruct", GlobalKind::Opaque},
    GlobalRow{"numpy.core.multiarray", "scalar", GlobalKind::Opaque},
    GlobalRow{"numpy._core.multiarray", "scalar", GlobalKind::Opaque},
    GlobalRow{"_codecs", "encode", GlobalKind::Opaque},
};

/// The argument at `index` as a T.
template <class T>
const T& argument(const Pickle& pickle, const PickleTuple& arguments, size_t index,
                  std::string_view what, std::string_view where) {
  const T* value =
      index < arguments.items.size() ? std::get_if<T>(&pickle.at(arguments.items[index])) : nullptr;
  DRIFTLESS_REQUIRE(value != nullptr, ErrorCode::BadFile, where, ": ", what,
                    " has a missing or wrong argument at position ", index);
  return *value;
}

std::vector<int64_t> extents(const Pickle& pickle, const PickleTuple& tuple,
                             std::string_view where) {
  DRIFTLESS_REQUIRE(tuple.items.size() <= kMaxTupleRank, ErrorCode::BadFile, where,
                    ": a tensor has too many dimensions; got ", tuple.items.size(),
                    ", expected at most ", kMaxTupleRank);
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < tuple.items.size(); ++i) {
    numbers.push_back(argument<int64_t>(pickle, tuple, i, "a tensor's shape", where));
    DRIFTLESS_REQUIRE(numbers.back() >= 0, ErrorCode::BadFile, where,
                      ": a tensor has a negative extent or stride; got ", numbers.back());
  }
  return numbers;
}

/// Largest element index that the tensor touches, or nothing when it exceeds int64_t.
std::optional<int64_t> last_element(const PickleTensor& tensor) {
  int64_t last = tensor.offset;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return std::nullopt;
  }
  return last;
}

void require_inside(const PickleTensor& tensor, std::string_view where) {
  const auto count = element_count(tensor.shape);
  // Strides of 0 could make a tensor larger than the file; nothing that is saved as a weight is.
  DRIFTLESS_REQUIRE(count && *count <= tensor.storage.element_count, ErrorCode::BadFile, where,
                    ": a tensor is larger than its storage ", quote(tensor.storage.key), "; got ",
                    shape_text(tensor.shape), ", expected at most ", tensor.storage.element_count,
                    " elements");
  if (*count == 0) return;
  const auto last = last_element(tensor);
  DRIFTLESS_REQUIRE(last && *last < tensor.storage.element_count, ErrorCode::BadFile, where,
                    ": a tensor reaches outside its storage ", quote(tensor.storage.key),
                    "; got offset ", tensor.offset, ", shape ", shape_text(tensor.shape),
                    ", strides ", shape_text(tensor.strides), ", expected ",
                    tensor.storage.element_count, " elements");
}

PickleTensor rebuild_tensor(const Pickle& pickle, const PickleTuple& arguments,
                            std::string_view where) {
  constexpr std::string_view kWhat = "_rebuild_tensor_v2";
  PickleTensor tensor{
      argument<PickleStorage>(pickle, arguments, 0, kWhat, where),
      argument<int64_t>(pickle, arguments, 1, kWhat, where),
      extents(pickle, argument<PickleTuple>(pickle, arguments, 2, kWhat, where), where),
      extents(pickle, argument<PickleTuple>(pickle, arguments, 3, kWhat, where), where)};
  DRIFTLESS_REQUIRE(tensor.shape.size() == tensor.strides.size() && tensor.offset >= 0,
                    ErrorCode::BadFile, where, ": a tensor's shape and strides do not match; got ",
                    shape_text(tensor.shape), " and ", shape_text(tensor.strides));
  require_inside(tensor, where);
  return tensor;
}

}  // namespace

PickleGlobal find_global(std::string_view module, std::string_view name, std::string_view where) {
  const auto found = std::find_if(kGlobals.begin(), kGlobals.end(), [&](const GlobalRow& row) {
    return row.module == module && row.name == name;
  });
  DRIFTLESS_REQUIRE(
      found != kGlobals.end(), ErrorCode::Unsupported, where, ": the pickle asks for the global ",
      quote(std::string(module.substr(0, 80)) + "." + std::string(name.substr(0, 80))),
      "; expected only tensors and containers; nothing was run");
  return {static_cast<size_t>(found - kGlobals.begin())};
}

PickleValue call_global(const Pickle& pickle, PickleGlobal global, const PickleTuple& arguments,
                        std::string_view where) {
  const GlobalRow& row = kGlobals.at(global.row);
  switch (row.kind) {
    case GlobalKind::OrderedDict:
      DRIFTLESS_REQUIRE(arguments.items.empty(), ErrorCode::BadFile, where,
                        ": OrderedDict is made with arguments; expected none");
      return PickleDict{};
    case GlobalKind::RebuildTensor:
      return rebuild_tensor(pickle, arguments, where);
    case GlobalKind::RebuildParameter:
      return argument<PickleTensor>(pickle, arguments, 0, "_rebuild_parameter", where);
    case GlobalKind::Opaque:
      return PickleOpaque{};
    case GlobalKind::StorageType:
      break;
  }
  fail(ErrorCode::Unsupported, where, ": the pickle calls ", row.module, ".", row.name,
       ", which only names a storage type");
}

PickleStorage storage_of(const Pickle& pickle, const PickleTuple& id, std::string_view where) {
  constexpr std::string_view kWhat = "a persistent id";
  const auto tag = argument<std::string_view>(pickle, id, 0, kWhat, where);
  const auto type = argument<PickleGlobal>(pickle, id, 1, kWhat, where);
  const GlobalRow& row = kGlobals.at(type.row);
  DRIFTLESS_REQUIRE(tag == "storage" && row.kind == GlobalKind::StorageType, ErrorCode::BadFile,
                    where, ": a persistent id is no storage; got ", quote(tag), " of ", row.name);
  const auto key = argument<std::string_view>(pickle, id, 2, kWhat, where);
  const auto count = argument<int64_t>(pickle, id, 4, kWhat, where);
  int64_t size_bytes = 0;
  DRIFTLESS_REQUIRE(
      count >= 0 && !__builtin_mul_overflow(count, info(row.dtype).size_bytes, &size_bytes),
      ErrorCode::BadFile, where, ": storage ", quote(key), " has an impossible size; got ", count,
      " elements");
  return {row.dtype, key, count};
}

}  // namespace driftless::store
