// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/dataset/dataset.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/json.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"
#include "driftless/store/dataset/npy.h"

namespace driftless::store {
namespace {

using Json = nlohmann::json;
using Path = std::filesystem::path;

constexpr int64_t kMaxVocabulary = 256;  // tokens are kept as bytes

constexpr std::string_view kMetadataKeys[] = {"pad_id",
                                              "ignore_label_id",
                                              "blank_identifier_id",
                                              "vocab_size",
                                              "seq_len",
                                              "num_puzzle_identifiers",
                                              "total_groups",
                                              "mean_puzzle_examples",
                                              "total_puzzles",
                                              "total_samples",
                                              "sets"};

Json read_json(const Path& path) { return parse_json(read_text(path), path.string()); }

int64_t integer(const Json& object, const char* key, int64_t least, int64_t most,
                const std::string& where) {
  const auto found = object.find(key);
  DRIFTLESS_REQUIRE(found != object.end() && found->is_number_integer(), ErrorCode::BadFile, where,
                    ": '", key, "' is missing or not an integer");
  const bool is_huge =
      found->is_number_unsigned() && !std::in_range<int64_t>(found->get<uint64_t>());
  const int64_t value = is_huge ? -1 : found->get<int64_t>();
  DRIFTLESS_REQUIRE(!is_huge && value >= least && value <= most, ErrorCode::BadFile, where, ": '",
                    key, "' is out of range; got ", found->dump(), ", expected ", least, " to ",
                    most);
  return value;
}

void read_metadata(const Path& path, PuzzleDataset& set) {
  const Json object = read_json(path);
  const std::string where = path.string();
  DRIFTLESS_REQUIRE(object.is_object(), ErrorCode::BadFile, where, ": not a JSON object");
  for (const auto& [key, value] : object.items()) {
    bool is_known = false;
    for (const std::string_view known : kMetadataKeys) is_known = is_known || known == key;
    DRIFTLESS_REQUIRE(is_known, ErrorCode::BadFile, where, ": unknown key ", quote(key),
                      did_you_mean(key, kMetadataKeys));
  }
  set.vocab_size = integer(object, "vocab_size", 1, kMaxVocabulary, where);
  set.seq_len = integer(object, "seq_len", 1, 1 << 20, where);
  set.pad_id = integer(object, "pad_id", 0, set.vocab_size - 1, where);
  if (object.contains("ignore_label_id") && !object.at("ignore_label_id").is_null())
    set.ignore_label_id = integer(object, "ignore_label_id", -1000, set.vocab_size - 1, where);
  set.num_puzzle_identifiers =
      integer(object, "num_puzzle_identifiers", 1, int64_t{1} << 31, where);
  set.blank_identifier_id =
      integer(object, "blank_identifier_id", 0, set.num_puzzle_identifiers - 1, where);
  DRIFTLESS_REQUIRE(object.contains("sets") && object.at("sets") == Json::array({"all"}),
                    ErrorCode::Unsupported, where, ": 'sets' is not [\"all\"]");
}

/// Calls `use` with the array of an npy file of the given rank.
template <class Use>
void with_array(const Path& path, size_t rank, Use use) {
  const auto bytes = read_file(path);
  const std::string where = path.string();
  const TensorView array = parse_npy(bytes, where);
  DRIFTLESS_REQUIRE(array.shape.size() == rank, ErrorCode::BadFile, where,
                    ": wrong number of dimensions; got ", shape_text(array.shape), ", expected ",
                    rank);
  use(array, where);
}

/// Copies tokens to bytes one by one, so that a file of int64 does not need a second array of them.
template <class Raw>
std::vector<uint8_t> narrow_tokens(std::span<const std::byte> bytes, int64_t vocab_size,
                                   const std::string& where) {
  std::vector<uint8_t> tokens(bytes.size() / sizeof(Raw));
  for (size_t i = 0; i < tokens.size(); ++i) {
    Raw raw{};
    std::memcpy(&raw, bytes.data() + i * sizeof(Raw), sizeof(Raw));
    const int64_t token = raw;
    DRIFTLESS_REQUIRE(token >= 0 && token < vocab_size, ErrorCode::BadFile, where,
                      ": token outside the vocabulary; got ", token, " at element ", i,
                      ", expected 0 to ", vocab_size - 1);
    tokens[i] = static_cast<uint8_t>(token);
  }
  return tokens;
}

std::vector<uint8_t> read_boards(const Path& path, const PuzzleDataset& set) {
  std::vector<uint8_t> tokens;
  with_array(path, 2, [&](const TensorView& array, const std::string& where) {
    DRIFTLESS_REQUIRE(array.shape[1] == set.seq_len, ErrorCode::BadFile, where,
                      ": wrong board length; got ", array.shape[1],
                      ", expected seq_len = ", set.seq_len);
    switch (array.dtype) {
      case DType::U8:
        tokens = narrow_tokens<uint8_t>(array.bytes, set.vocab_size, where);
        break;
      case DType::I32:
        tokens = narrow_tokens<int32_t>(array.bytes, set.vocab_size, where);
        break;
      case DType::I64:
        tokens = narrow_tokens<int64_t>(array.bytes, set.vocab_size, where);
        break;
      default:
        fail(ErrorCode::Unsupported, where, ": tokens are not integers; got ",
             info(array.dtype).name);
    }
  });
  return tokens;
}

std::vector<int64_t> read_integers(const Path& path) {
  std::vector<int64_t> values;
  with_array(path, 1, [&](const TensorView& array, const std::string& where) {
    values = to_integers(array, where);
  });
  return values;
}

/// Offsets start at 0, never fall and end at `end`.
void require_offsets(const std::vector<int64_t>& offsets, int64_t end, const Path& path) {
  DRIFTLESS_REQUIRE(!offsets.empty() && offsets.front() == 0 && offsets.back() == end,
                    ErrorCode::BadFile, path.string(), ": offsets do not run from 0 to ", end);
  for (size_t i = 1; i < offsets.size(); ++i)
    DRIFTLESS_REQUIRE(offsets[i] >= offsets[i - 1], ErrorCode::BadFile, path.string(),
                      ": offsets fall at element ", i, "; got ", offsets[i], " after ",
                      offsets[i - 1]);
}

void require_identifiers(const PuzzleDataset& set, const Path& path) {
  DRIFTLESS_REQUIRE(set.puzzle_identifiers.size() + 1 == set.puzzle_indices.size(),
                    ErrorCode::BadFile, path.string(), ": wrong number of puzzles; got ",
                    set.puzzle_identifiers.size(), ", expected ", set.puzzle_indices.size() - 1);
  for (const int64_t id : set.puzzle_identifiers)
    DRIFTLESS_REQUIRE(id >= 0 && id < set.num_puzzle_identifiers, ErrorCode::BadFile, path.string(),
                      ": identifier is out of range; got ", id, ", expected 0 to ",
                      set.num_puzzle_identifiers - 1);
}

std::vector<std::string> read_names(const Path& path, int64_t expected) {
  const Json array = read_json(path);
  DRIFTLESS_REQUIRE(array.is_array() && std::cmp_equal(array.size(), expected), ErrorCode::BadFile,
                    path.string(), ": not a list of names; got ", array.size(),
                    " entries, expected num_puzzle_identifiers = ", expected);
  std::vector<std::string> names;
  for (const Json& name : array) {
    DRIFTLESS_REQUIRE(name.is_string(), ErrorCode::BadFile, path.string(),
                      ": a name is not a string");
    names.push_back(name.get<std::string>());
  }
  return names;
}

}  // namespace

PuzzleDataset read_dataset(const std::filesystem::path& folder, std::string_view split) {
  const Path part = folder / split;
  PuzzleDataset set;
  read_metadata(part / "dataset.json", set);
  set.inputs = read_boards(part / "all__inputs.npy", set);
  set.labels = read_boards(part / "all__labels.npy", set);
  DRIFTLESS_REQUIRE(set.inputs.size() == set.labels.size(), ErrorCode::BadFile,
                    (part / "all__labels.npy").string(),
                    ": as many labels as inputs expected; got ", set.labels.size(), " and ",
                    set.inputs.size(), " cells");
  set.puzzle_identifiers = read_integers(part / "all__puzzle_identifiers.npy");
  set.puzzle_indices = read_integers(part / "all__puzzle_indices.npy");
  set.group_indices = read_integers(part / "all__group_indices.npy");
  require_offsets(set.puzzle_indices, static_cast<int64_t>(set.inputs.size()) / set.seq_len,
                  part / "all__puzzle_indices.npy");
  require_identifiers(set, part / "all__puzzle_identifiers.npy");
  require_offsets(set.group_indices, static_cast<int64_t>(set.puzzle_identifiers.size()),
                  part / "all__group_indices.npy");
  std::error_code ignored;
  if (std::filesystem::exists(folder / "identifiers.json", ignored))
    set.identifiers = read_names(folder / "identifiers.json", set.num_puzzle_identifiers);
  return set;
}

void write_dataset(const std::filesystem::path& folder, std::string_view split,
                   const PuzzleDataset& set) {
  const Path part = folder / split;
  std::error_code error;
  std::filesystem::create_directories(part, error);
  DRIFTLESS_REQUIRE(!error, ErrorCode::Io, part.string(), ": cannot make the folder; got ",
                    error.message());
  // Readers begin with dataset.json. It goes first and comes last, so that arrays of two runs, of
  // which the second was killed, are not taken for a data set.
  std::filesystem::remove(part / "dataset.json", error);
  const auto groups = std::ssize(set.group_indices) - 1;
  const auto puzzles = std::ssize(set.puzzle_identifiers);
  Json facts = {{"pad_id", set.pad_id},
                {"blank_identifier_id", set.blank_identifier_id},
                {"vocab_size", set.vocab_size},
                {"seq_len", set.seq_len},
                {"num_puzzle_identifiers", set.num_puzzle_identifiers},
                {"total_groups", groups},
                {"mean_puzzle_examples", static_cast<double>(set.row_count()) /
                                             static_cast<double>(std::max<int64_t>(1, puzzles))},
                {"total_puzzles", puzzles},
                {"sets", {"all"}}};
  facts["ignore_label_id"] = set.ignore_label_id ? Json(*set.ignore_label_id) : Json(nullptr);
  const auto write_boards = [&](const char* name, const std::vector<uint8_t>& tokens) {
    write_file_atomic(
        part / name,
        to_npy({DType::U8, {set.row_count(), set.seq_len}, std::as_bytes(std::span(tokens))}));
  };
  const auto write_integers = [&](const char* name, const std::vector<int64_t>& values) {
    const std::vector<int32_t> narrow(values.begin(), values.end());
    write_file_atomic(part / name,
                      to_npy({DType::I32, {std::ssize(narrow)}, std::as_bytes(std::span(narrow))}));
  };
  write_boards("all__inputs.npy", set.inputs);
  write_boards("all__labels.npy", set.labels);
  write_integers("all__puzzle_identifiers.npy", set.puzzle_identifiers);
  write_integers("all__puzzle_indices.npy", set.puzzle_indices);
  write_integers("all__group_indices.npy", set.group_indices);
  if (!set.identifiers.empty())
    write_file_atomic(folder / "identifiers.json", Json(set.identifiers).dump() + "\n");
  write_file_atomic(part / "dataset.json", facts.dump() + "\n");
}

bool is_dataset(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / "test" / "dataset.json", ignored) ||
         std::filesystem::exists(folder / "train" / "dataset.json", ignored);
}

std::vector<DatasetRow> rows_of(const PuzzleDataset& set) {
  std::vector<DatasetRow> rows;
  rows.reserve(static_cast<size_t>(set.row_count()));
  const auto board = [&](const std::vector<uint8_t>& tokens, int64_t row) {
    return std::span(tokens).subspan(static_cast<size_t>(row * set.seq_len),
                                     static_cast<size_t>(set.seq_len));
  };
  for (size_t puzzle = 0; puzzle < set.puzzle_identifiers.size(); ++puzzle) {
    const int64_t id = set.puzzle_identifiers[puzzle];
    const std::string_view name =
        set.identifiers.empty() ? "" : std::string_view(set.identifiers[static_cast<size_t>(id)]);
    for (int64_t row = set.puzzle_indices[puzzle]; row < set.puzzle_indices[puzzle + 1]; ++row)
      rows.push_back({id, name, board(set.inputs, row), board(set.labels, row)});
  }
  return rows;
}

}  // namespace driftless::store
