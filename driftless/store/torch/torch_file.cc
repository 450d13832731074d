// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/torch/torch_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <sstream>
#include <utility>

#include "driftless/base/error.h"
#include "driftless/base/files/input_file.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"
#include "driftless/store/torch/pickle.h"
#include "driftless/store/torch/zip.h"

namespace driftless::store {
namespace {

constexpr std::array<std::string_view, 2> kBatchBufferNames = {"puzzle_emb.local_weights",
                                                               "puzzle_emb.local_ids"};
/// What an exponential average leaves out, because it is no trained parameter.
constexpr std::array<std::string_view, 4> kBufferNames = {"H_init", "L_init", "puzzle_emb.weights",
                                                          "absolute_pos_embedding"};
/// A configuration is far smaller; a pickle may refer to a dictionary from inside itself.
constexpr int64_t kMaxConfigValues = 10000;
constexpr int64_t kMaxConfigDepth = 4;

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The archive's single top folder, with a slash: the entry FOLDER/data.pkl tells.
std::string top_folder(const ZipArchive& zip, const std::string& where) {
  std::optional<std::string> top;
  for (const std::string& name : zip.names()) {
    const size_t slash = name.find('/');
    if (slash == std::string::npos || name.substr(slash) != "/data.pkl") continue;
    DRIFTLESS_REQUIRE(!top, ErrorCode::BadFile, where, ": more than one data.pkl in the archive");
    top = name.substr(0, slash + 1);
  }
  DRIFTLESS_REQUIRE(top, ErrorCode::BadFile, where,
                    ": no data.pkl in the archive; not a PyTorch checkpoint");
  return *top;
}

/// Copies a strided tensor into rows. The unpickler has checked that it lies inside its storage.
std::vector<std::byte> gather(const PickleTensor& tensor, std::span<const std::byte> storage) {
  const auto size = static_cast<size_t>(info(tensor.storage.dtype).size_bytes);
  const auto count = static_cast<size_t>(element_count(tensor.shape).value_or(0));
  std::vector<std::byte> bytes(count * size);
  std::vector<int64_t> index(tensor.shape.size());
  int64_t element = tensor.offset;
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(bytes.data() + i * size, storage.data() + static_cast<size_t>(element) * size,
                size);
    for (size_t axis = index.size(); axis-- > 0;) {
      element += tensor.strides[axis];
      if (++index[axis] < tensor.shape[axis]) break;
      element -= tensor.strides[axis] * tensor.shape[axis];
      index[axis] = 0;
    }
  }
  return bytes;
}

/// One checkpoint file: its pickle and the storages that its tensors name.
class Archive {
 public:
  explicit Archive(const std::filesystem::path& path)
      : where_(path.string()),
        zip_(path),
        top_(top_folder(zip_, where_)),
        bytes_left_(static_cast<int64_t>(InputFile(path).size())) {
    require_little_endian();
    pickle_bytes_ = zip_.read(top_ + "data.pkl");
    pickle_ = parse_pickle(pickle_bytes_, where_ + ": data.pkl");
  }

  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const Pickle& pickle() const { return pickle_; }
  [[nodiscard]] const PickleValue& root() const { return pickle_.at(pickle_.root); }

  /// A tensor's values. All tensors together may not exceed the file, however they share storages.
  Tensor load(const PickleTensor& tensor, const std::string& place) {
    const std::span<const std::byte> storage = storage_bytes(tensor.storage, place);
    const auto size = byte_count(tensor.storage.dtype, tensor.shape).value_or(0);
    DRIFTLESS_REQUIRE(size <= bytes_left_, ErrorCode::BadFile, place,
                      ": the tensors are larger than the file; got ", size,
                      " bytes, expected at most ", bytes_left_, " more");
    bytes_left_ -= size;
    const auto bytes = gather(tensor, storage);
    return {tensor.shape, to_float32({tensor.storage.dtype, tensor.shape, bytes}, place)};
  }

 private:
  void require_little_endian() {
    const std::string name = top_ + "byteorder";
    if (std::find(zip_.names().begin(), zip_.names().end(), name) == zip_.names().end()) return;
    const auto bytes = zip_.read(name);
    const std::string_view order(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    DRIFTLESS_REQUIRE(order == "little", ErrorCode::Unsupported, where_, ": byte order; got ",
                      quote(order), ", expected 'little'");
  }

  std::span<const std::byte> storage_bytes(const PickleStorage& storage, const std::string& place) {
    const std::string key(storage.key);
    const auto found = storages_.find(key);
    const auto& bytes = found != storages_.end()
                            ? found->second
                            : storages_.emplace(key, zip_.read(top_ + "data/" + key)).first->second;
    const int64_t expected = storage.element_count * info(storage.dtype).size_bytes;
    DRIFTLESS_REQUIRE(std::cmp_greater_equal(bytes.size(), expected), ErrorCode::BadFile, place,
                      ": storage ", quote(key), " is too short; got ", bytes.size(),
                      " bytes, expected ", expected);
    return bytes;
  }

  std::string where_;
  ZipArchive zip_;
  std::string top_;
  int64_t bytes_left_;
  std::vector<std::byte> pickle_bytes_;
  Pickle pickle_;
  std::map<std::string, std::vector<std::byte>> storages_;
};

/// Adds the tensors of a state dict whose plain name `is_wanted`.
template <class Wanted>
void add_tensors(Archive& archive, const PickleDict& dict, Wanted is_wanted, TensorMap& tensors) {
  const Pickle& pickle = archive.pickle();
  for (const auto& [key_ref, value_ref] : dict.items) {
    const auto* key = std::get_if<std::string_view>(&pickle.at(key_ref));
    DRIFTLESS_REQUIRE(key != nullptr, ErrorCode::BadFile, archive.where(),
                      ": a state dict has a key that is not text");
    const std::string name = plain_name(*key);
    if (is_scratch(name) || !is_wanted(name)) continue;
    const std::string place = archive.where() + ": tensor " + quote(*key);
    const auto* tensor = std::get_if<PickleTensor>(&pickle.at(value_ref));
    DRIFTLESS_REQUIRE(tensor != nullptr, ErrorCode::BadFile, place, ": not a tensor");
    DRIFTLESS_REQUIRE(!tensors.contains(name), ErrorCode::BadFile, place,
                      ": a second tensor with the name ", quote(name));
    tensors.emplace(name, archive.load(*tensor, place));
  }
}

/// The scalar as text, empty for null, or nothing for containers.
std::optional<std::string> scalar_text(const PickleValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return std::string(*text);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* real = std::get_if<double>(&value)) {
    std::ostringstream text;
    text.precision(17);
    text << *real;
    return text.str();
  }
  if (std::holds_alternative<PickleNone>(value)) return "";
  return std::nullopt;
}

/// Collects the scalars of a value under the names that parse_yaml gives them.
class Flattener {
 public:
  explicit Flattener(const Pickle& pickle) : pickle_(pickle) {}

  void add(const PickleValue& value, const std::string& path, int64_t depth) {
    if (++values_ > kMaxConfigValues || depth > kMaxConfigDepth) return;
    const auto below = [&](const std::string& name, PickleRef item) {
      add(pickle_.at(item), path.empty() ? name : path + "." + name, depth + 1);
    };
    if (const auto* dict = std::get_if<PickleDict>(&value)) {
      for (const auto& [key, item] : dict->items)
        if (const auto* name = std::get_if<std::string_view>(&pickle_.at(key)))
          below(std::string(*name), item);
    } else if (const auto* list = std::get_if<PickleList>(&value)) {
      for (size_t i = 0; i < list->items.size(); ++i) below(std::to_string(i), list->items[i]);
    } else if (const auto text = scalar_text(value)) {
      flat_[path] = *text;
    }
  }
  FlatConfig take() { return std::move(flat_); }

 private:
  const Pickle& pickle_;
  FlatConfig flat_;
  int64_t values_ = 0;
};

/// The training state's own configuration; empty where it has none of a model.
FlatConfig training_config(const Pickle& pickle, const PickleValue& state) {
  const PickleValue* config = find_item(pickle, state, "config");
  if (config == nullptr || find_item(pickle, *config, "arch") == nullptr) return {};
  Flattener flattener(pickle);
  flattener.add(*config, "", 0);
  return flattener.take();
}

const PickleDict& dict_of(const PickleValue* value, const char* what, const std::string& where) {
  const auto* dict = value == nullptr ? nullptr : std::get_if<PickleDict>(value);
  DRIFTLESS_REQUIRE(dict != nullptr, ErrorCode::BadFile, where, ": ", what,
                    " is missing or not a dictionary of tensors");
  return *dict;
}

bool is_any(const std::string&) { return true; }
bool is_buffer(const std::string& name) { return is_one_of(kBufferNames, name); }
bool is_not_buffer(const std::string& name) { return !is_buffer(name); }

/// EqR's file: a dictionary with the model, its average, and how training stood.
TorchModel read_training_state(Archive& archive) {
  const Pickle& pickle = archive.pickle();
  TorchModel model;
  model.config = training_config(pickle, archive.root());
  const PickleDict& raw =
      dict_of(find_item(pickle, archive.root(), "model"), "'model'", archive.where());
  const PickleValue* ema = find_item(pickle, archive.root(), "ema");
  if (ema == nullptr || std::holds_alternative<PickleNone>(*ema)) {
    model.weights = "state_dict";
    add_tensors(archive, raw, is_any, model.tensors);
    return model;
  }
  model.weights = "ema.shadow";
  const PickleDict& shadow =
      dict_of(find_item(pickle, *ema, "shadow"), "'ema.shadow'", archive.where());
  add_tensors(archive, shadow, is_not_buffer, model.tensors);
  add_tensors(archive, raw, is_buffer, model.tensors);
  return model;
}

}  // namespace

std::string plain_name(std::string_view key) {
  std::vector<std::string_view> segments = split(key, '.');
  std::erase(segments, "_orig_mod");
  const auto inner = std::find(segments.rbegin(), segments.rend(), "inner");
  auto first = inner.base();
  if (inner == segments.rend())
    first = std::find_if(segments.begin(), segments.end(),
                         [](std::string_view segment) { return segment != "model"; });
  segments.erase(segments.begin(), first);
  return join(segments, ".");
}

bool is_scratch(std::string_view name) {
  const std::vector<std::string_view> segments = split(name, '.');
  return is_one_of(kBatchBufferNames, name) ||
         std::find(segments.begin(), segments.end(), "rotary_emb") != segments.end();
}

TorchModel read_torch(const std::filesystem::path& path) {
  Archive archive(path);
  const Pickle& pickle = archive.pickle();
  if (find_item(pickle, archive.root(), "model") != nullptr) return read_training_state(archive);
  const PickleValue* nested = find_item(pickle, archive.root(), "state_dict");
  TorchModel model;
  model.weights = "state_dict";
  add_tensors(
      archive,
      dict_of(nested == nullptr ? &archive.root() : nested, "the state dict", archive.where()),
      is_any, model.tensors);
  return model;
}

}  // namespace driftless::store
