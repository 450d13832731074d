// SPDX-License-Identifier: Apache-2.0
#include "driftless/loop/transpose.h"

#include <vector>

#include <gtest/gtest.h>

namespace driftless::loop {
namespace {

TEST(Transpose, PutsEveryValueInItsPlaceAndNothingBeside) {
  for (const int64_t rows : {1, 3, 4, 5, 16, 17, 81})
    for (const int64_t columns : {1, 2, 4, 7, 16, 33, 128}) {
      const int64_t from_stride = columns + 3;
      const int64_t to_stride = rows + 2;
      std::vector<float> from(static_cast<size_t>(rows * from_stride));
      for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
      std::vector<float> to(static_cast<size_t>(columns * to_stride), -1.0f);
      transpose({from.data(), rows, columns}, from_stride, to.data(), to_stride);
      for (int64_t c = 0; c < columns; ++c)
        for (int64_t r = 0; r < to_stride; ++r)
          ASSERT_EQ(to[static_cast<size_t>(c * to_stride + r)],
                    r < rows ? static_cast<float>(r * from_stride + c) : -1.0f)
              << rows << " x " << columns << " at " << c << ", " << r;
    }
}

}  // namespace
}  // namespace driftless::loop
