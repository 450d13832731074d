// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/compare/scheme_list.h"

#include "driftless/base/error.h"

namespace driftless::run {

std::vector<std::string> split_schemes(std::string_view text) {
  std::vector<std::string> schemes;
  for (std::string_view left = text;;) {
    const size_t comma = left.find(',');
    const std::string_view part = left.substr(0, comma);
    DRIFTLESS_REQUIRE(
        !part.empty(), ErrorCode::InvalidArgument, "list of schemes; got '", text,
        "' with nothing between two commas, expected such as none,int4/tensor,mxint4");
    if (part.find('=') != std::string_view::npos && !schemes.empty())
      schemes.back() += "," + std::string(part);
    else
      schemes.emplace_back(part);
    if (comma == std::string_view::npos) return schemes;
    left.remove_prefix(comma + 1);
  }
}

SchemeText with_quantizers(SchemeText scheme, std::string_view quantizers) {
  const size_t colon = quantizers.find(':');
  scheme.weights = quantizers.substr(0, colon);
  scheme.acts = colon == std::string_view::npos ? quantizers : quantizers.substr(colon + 1);
  return scheme;
}

bool is_float(const SchemeText& scheme) {
  return scheme.weights == "none" && scheme.acts == "none" && scheme.attention == "none" &&
         scheme.plan.empty();
}

}  // namespace driftless::run
