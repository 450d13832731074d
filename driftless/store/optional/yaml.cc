// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/torch/yaml.h"

#include <yaml-cpp/yaml.h>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"

namespace driftless::store {
namespace {

// Aliases can make a small file describe a huge tree; a configuration needs far less than this.
constexpr size_t kMaxYamlBytes = 1 << 20;
constexpr int64_t kMaxNodes = 10000;
constexpr int64_t kMaxYamlDepth = 32;

class YamlFlattener {
 public:
  explicit YamlFlattener(std::string_view where) : where_(where) {}

  void add(const YAML::Node& node, const std::string& path, int64_t depth) {
    DRIFTLESS_REQUIRE(++nodes_ <= kMaxNodes && depth <= kMaxYamlDepth, ErrorCode::BadFile, where_,
                      ": YAML is too large or too deep at ", quote(path));
    if (node.IsScalar() || (node.IsNull() && !path.empty())) {
      DRIFTLESS_REQUIRE(flat_.emplace(path, node.IsNull() ? "" : node.Scalar()).second,
                        ErrorCode::BadFile, where_, ": key ", quote(path), " appears twice");
    } else if (node.IsSequence()) {
      for (size_t i = 0; i < node.size(); ++i)
        add(node[i], join(path, std::to_string(i)), depth + 1);
    } else if (node.IsMap()) {
      for (const auto& item : node) {
        DRIFTLESS_REQUIRE(item.first.IsScalar(), ErrorCode::BadFile, where_, ": a key below ",
                          quote(path), " is not plain text");
        add(item.second, join(path, item.first.Scalar()), depth + 1);
      }
    }
  }
  FlatConfig take() { return std::move(flat_); }

 private:
  static std::string join(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  }

  std::string_view where_;
  FlatConfig flat_;
  int64_t nodes_ = 0;
};

}  // namespace

FlatConfig parse_yaml(std::string_view text, std::string_view where) {
  DRIFTLESS_REQUIRE(text.size() <= kMaxYamlBytes, ErrorCode::BadFile, where,
                    ": too large for a configuration; got ", text.size(), " bytes");
  try {
    YamlFlattener flattener(where);
    flattener.add(YAML::Load(std::string(text)), "", 0);
    return flattener.take();
  } catch (const YAML::Exception& error) {
    fail(ErrorCode::BadFile, where, ": not valid YAML; got ", quote(error.what()));
  }
}

}  // namespace driftless::store
