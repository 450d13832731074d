// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/text/quote.h"

namespace driftless {

std::string quote(std::string_view text) {
  constexpr size_t kMaxShown = 80;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string shown = "'";
  for (const char c : text.substr(0, kMaxShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      shown += c;
    } else {
      shown += "\\x";
      shown += kDigits[byte >> 4];
      shown += kDigits[byte & 15];
    }
  }
  return shown + (text.size() > kMaxShown ? "...'" : "'");
}

}  // namespace driftless
