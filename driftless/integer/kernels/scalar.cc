// SPDX-License-Identifier: Apache-2.0
// The complete scalar set: plain signed bytes, no tricks.
#include "driftless/integer/kernels/kernel_set.h"

namespace driftless::integer {
namespace {

constexpr int64_t kColumns = 8;
constexpr int64_t kMaxRows = 4;

/// The dot product of steps [first, last) of one row and column.
int32_t dot(const TileArgs& args, int64_t row, int64_t column, int64_t first,
            int64_t last) noexcept {
  const uint8_t* const bytes = args.rows + row * args.row_stride;
  int32_t sum = 0;
  for (int64_t step = first; step < last; ++step) {
    for (int64_t i = 0; i < kStep; ++i) {
      const auto left = static_cast<int8_t>(bytes[step * kStep + i]);
      sum += left * args.panel[(step * kColumns + column) * kStep + i];
    }
  }
  return sum;
}

int32_t whole_sum(const TileArgs& args, int64_t row, int64_t column) noexcept {
  return args.starts[column] + dot(args, row, column, 0, args.steps);
}

int32_t per_block_sum(const TileArgs& args, int64_t row, int64_t column) noexcept {
  int32_t sum = 0;
  for (int64_t block = 0; block < args.blocks; ++block) {
    const int64_t first = block * kBlockSteps;
    const int64_t last = first + kBlockSteps < args.steps ? first + kBlockSteps : args.steps;
    const int64_t at = block * kColumns + column;
    const int32_t part = args.starts[at] + dot(args, row, column, first, last);
    const int32_t shift = args.shifts[at] + args.row_shifts[row * args.blocks + block];
    sum += part * (int32_t{1} << shift);
  }
  return sum;
}

template <int32_t (*sum)(const TileArgs&, int64_t, int64_t) noexcept>
void sums(const TileArgs& args, int64_t rows) noexcept {
  auto* const out = static_cast<int32_t*>(args.out);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < kColumns; ++column) {
      out[row * args.out_stride + column] = sum(args, row, column);
    }
  }
}

template <int32_t (*sum)(const TileArgs&, int64_t, int64_t) noexcept>
void products(const TileArgs& args, int64_t rows) noexcept {
  auto* const out = static_cast<float*>(args.out);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < kColumns; ++column) {
      const float scale = args.row_scales[row] * args.column_scales[column];
      out[row * args.out_stride + column] = static_cast<float>(sum(args, row, column)) * scale;
    }
  }
}

int64_t peak(int64_t rounds) noexcept {
  volatile uint32_t factor = 3;
  const uint32_t constant = factor;
  uint32_t sums[kColumns] = {};
  for (int64_t round = 0; round < rounds; ++round) {
    for (uint32_t& sum : sums) sum = (sum ^ constant) * constant;
  }
  for (const uint32_t sum : sums) factor = sum;
  return rounds * kColumns;
}

}  // namespace

constinit const KernelSet kScalarKernels = {
    .name = "scalar",
    .columns = kColumns,
    .row_flip = 0,
    .has_digits = false,
    .shift_form = ShiftForm::Count,
    .whole = {kMaxRows, sums<whole_sum>, products<whole_sum>},
    .per_block = {kMaxRows, sums<per_block_sum>, products<per_block_sum>},
    .peak = peak,
};

}  // namespace driftless::integer
