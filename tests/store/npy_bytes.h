// SPDX-License-Identifier: Apache-2.0
// npy files as byte strings.
#pragma once

#include <cstdint>
#include <string>

#include "tests/testing/bytes.h"

namespace driftless::store::testing {

inline std::string npy_bytes(const std::string& descr, const std::string& shape,
                             const std::string& data, char version = 1) {
  using driftless::testing::little_endian;
  const std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }    \n";
  const std::string length = version == 1 ? little_endian(static_cast<uint16_t>(header.size()))
                                          : little_endian(static_cast<uint32_t>(header.size()));
  return std::string("\x93NUMPY") + version + '\0' + length + header + data;
}

}  // namespace driftless::store::testing
