// SPDX-License-Identifier: Apache-2.0
#include "driftless/native/changes.h"

#include <algorithm>

#include "driftless/formats/float_bits.h"

namespace driftless::native {

using integer::kBlock;

void add_values(const integer::RowMatrix& rows, int64_t count, const RowSums& sums,
                const loop::EpilogueSet& epilogues) {
  const uint8_t flip = rows.set->row_flip;
  for (int64_t block = 0; block < rows.blocks; ++block) {
    const int64_t first = block * kBlock;
    const int64_t length = std::min(kBlock, rows.k - first);
    for (int64_t row = 0; row < count; ++row) {
      const auto shift = rows.shifts[static_cast<size_t>(row * rows.blocks + block)];
      epilogues.add_bytes(sums.first + row * sums.row_stride + block * sums.block_stride,
                          rows.bytes.data() + row * rows.stride + first, length, flip,
                          rows.scales[static_cast<size_t>(row)] * formats::power_of_two(shift));
    }
  }
}

}  // namespace driftless::native
