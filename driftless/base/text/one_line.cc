// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/text/one_line.h"

namespace driftless {

std::string one_line(std::string_view text) {
  constexpr size_t kStart = 1000;  // both together fit a screen of 24 lines and 80 columns
  constexpr size_t kEnd = 500;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string shown;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    // UTF-8 has control characters beyond ASCII too.
    if (byte < 0x20 || byte == 0x7f || (byte == 0xc2 && next >= 0x80 && next < 0xa0)) {
      shown += "\\x";
      shown += kDigits[byte >> 4];
      shown += kDigits[byte & 15];
    } else {
      shown += text[i];
    }
  }
  if (shown.size() > kStart + kEnd) shown.replace(kStart, shown.size() - kStart - kEnd, " ... ");
  return shown;
}

}  // namespace driftless
