// SPDX-License-Identifier: Apache-2.0
#include "driftless/integer/operand.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/formats/e8m0fnu.h"
#include "driftless/formats/float_bits.h"
#include "driftless/quant/runs.h"

namespace driftless::integer {
namespace {

using quant::Granularity;
using quant::QuantizedMatrix;

/// A quantized matrix as mantissas, shifts and scales, whatever its format.
struct Integers {
  IntegerForm form;
  int64_t rows;
  int64_t k;
  int64_t blocks;
  std::vector<int8_t> mantissas;  // [row][k]
  std::vector<uint8_t> shifts;    // [row][block]
  std::vector<float> scales;      // [row]

  [[nodiscard]] int8_t mantissa(int64_t row, int64_t at) const {
    return mantissas[static_cast<size_t>(row * k + at)];
  }
  [[nodiscard]] uint8_t shift(int64_t row, int64_t block) const {
    return shifts[static_cast<size_t>(row * blocks + block)];
  }
  /// What the row's value contributes to a sum: the mantissa, shifted.
  [[nodiscard]] int32_t value(int64_t row, int64_t at) const {
    return mantissa(row, at) * (int32_t{1} << shift(row, at / kBlock));
  }
};

int64_t blocks_of(int64_t k) { return (k + kBlock - 1) / kBlock; }
int64_t steps_of(int64_t k) { return (k + kStep - 1) / kStep; }

void require_consistent(const QuantizedMatrix& matrix) {
  const bool is_block = matrix.spec.granularity == Granularity::Block;
  const size_t scales = is_block ? matrix.scales.codes.size() : matrix.scales.floats.size();
  const int64_t expected = quant::run_count(matrix.spec, matrix.rows, matrix.cols);
  DRIFTLESS_REQUIRE(matrix.rows > 0 && matrix.cols > 0 &&
                        std::ssize(matrix.codes) == matrix.rows * matrix.cols &&
                        static_cast<int64_t>(scales) == expected,
                    ErrorCode::BadFile, "native product: quantized matrix of ", matrix.rows, " x ",
                    matrix.cols, "; got ", matrix.codes.size(), " codes and ", scales,
                    " scales, expected ", matrix.rows * matrix.cols, " and ", expected);
}

int8_t mantissa_of(uint8_t code, int bits) {
  const int whole = code & ((1 << bits) - 1);
  return static_cast<int8_t>(whole < 1 << (bits - 1) ? whole : whole - (1 << bits));
}

/// For each block of a row whether it has a mantissa other than zero.
std::vector<bool> nonzero_blocks(const Integers& integers, int64_t row) {
  std::vector<bool> nonzero(static_cast<size_t>(integers.blocks));
  const auto first = integers.mantissas.begin() + row * integers.k;
  for (int64_t block = 0; block < integers.blocks; ++block) {
    const int64_t last = std::min((block + 1) * kBlock, integers.k);
    nonzero[static_cast<size_t>(block)] = std::any_of(
        first + block * kBlock, first + last, [](int8_t mantissa) { return mantissa != 0; });
  }
  return nonzero;
}

/// How far a scale code, or a window, lies below the largest code of a row.
int64_t below_largest(std::span<const uint8_t> codes, int64_t below) {
  return *std::max_element(codes.begin(), codes.end()) - below;
}

/// The widest distance of a block that is not zero from its row's largest exponent.
int64_t widest_spread(const QuantizedMatrix& matrix, const Integers& integers) {
  int64_t widest = 0;
  for (int64_t row = 0; row < integers.rows; ++row) {
    const std::span codes(matrix.scales.codes.data() + row * integers.blocks,
                          static_cast<size_t>(integers.blocks));
    const auto nonzero = nonzero_blocks(integers, row);
    for (size_t block = 0; block < codes.size(); ++block) {
      if (nonzero[block]) widest = std::max(widest, below_largest(codes, codes[block]));
    }
  }
  return widest;
}

/// The shifts and scales of an mx matrix.
void take_block_scales(const QuantizedMatrix& matrix, Integers& integers) {
  const bool has_window = matrix.spec.window != quant::kNoWindow;
  integers.form.window = has_window ? matrix.spec.window : widest_spread(matrix, integers);
  DRIFTLESS_REQUIRE(integers.form.window <= kMaxWindow, ErrorCode::Unsupported,
                    "native product: exponents of '", to_string(matrix.spec), "' span ",
                    integers.form.window, " octaves, expected at most ", kMaxWindow,
                    "; quantize with window=4");
  const int fraction_bits = -formats::octave_of(matrix.spec.format->element.smallest).exponent;
  for (int64_t row = 0; row < integers.rows; ++row) {
    const std::span codes(matrix.scales.codes.data() + row * integers.blocks,
                          static_cast<size_t>(integers.blocks));
    DRIFTLESS_REQUIRE(std::find(codes.begin(), codes.end(), formats::E8m0fnu::kNan) == codes.end(),
                      ErrorCode::BadFile, "native product: a scale of row ", row, " is NaN");
    const auto base = static_cast<int>(below_largest(codes, integers.form.window));
    const auto nonzero = nonzero_blocks(integers, row);
    for (size_t block = 0; block < codes.size(); ++block) {
      const int shift = codes[block] - base;
      DRIFTLESS_REQUIRE(shift >= 0 || !nonzero[block], ErrorCode::BadFile,
                        "native product: exponent of row ", row, ", block ", block, " lies ",
                        integers.form.window - shift, " octaves below the row's largest, expected ",
                        "at most the window of ", integers.form.window);
      integers.shifts[static_cast<size_t>(row * integers.blocks) + block] =
          static_cast<uint8_t>(std::max(shift, 0));
    }
    integers.scales.push_back(
        formats::power_of_two(base - formats::E8m0fnu::kBias - fraction_bits));
  }
}

Integers integers_of(const QuantizedMatrix& matrix) {
  require_supported(matrix.spec);
  require_consistent(matrix);
  const int bits = matrix.spec.format->element.bits;
  const int64_t blocks = blocks_of(matrix.cols);
  Integers integers{{bits, 0}, matrix.rows, matrix.cols, blocks, {}, {}, {}};
  integers.mantissas.resize(matrix.codes.size());
  std::transform(matrix.codes.begin(), matrix.codes.end(), integers.mantissas.begin(),
                 [bits](uint8_t code) { return mantissa_of(code, bits); });
  integers.shifts.resize(static_cast<size_t>(matrix.rows * blocks));
  integers.scales.reserve(static_cast<size_t>(matrix.rows));
  if (matrix.spec.granularity == Granularity::Block) {
    take_block_scales(matrix, integers);
    return integers;
  }
  for (int64_t row = 0; row < matrix.rows; ++row) {
    const int64_t run = matrix.spec.granularity == Granularity::Tensor ? 0 : row;
    integers.scales.push_back(matrix.scales.floats[static_cast<size_t>(run)].scale);
  }
  return integers;
}

/// The two digits of a mantissa: high * 16 + low, both within -8 ... 8.
int8_t digit_of(int32_t mantissa, int64_t planes, int64_t plane) {
  if (planes == 1) return static_cast<int8_t>(mantissa);
  const int32_t high = (mantissa + 8) >> 4;
  return static_cast<int8_t>(plane == 0 ? high : mantissa - high * 16);
}

int32_t shift_code(ShiftForm form, int32_t shift) {
  return form == ShiftForm::Count ? shift : (int32_t{1} << shift) * 0x10001;
}

/// Where the shifts of a panel's blocks are.
enum class ShiftPlace : uint8_t {
  InBytes,     // mantissas are stored shifted
  WithDigits,  // digits are shifted when they are widened
  AfterBlock,  // a block's whole sum is shifted, what it starts at included
};

ShiftPlace shift_place(const KernelSet& set, const IntegerForm& form) {
  if (set.has_digits) return ShiftPlace::WithDigits;
  return form.fits_bytes() ? ShiftPlace::InBytes : ShiftPlace::AfterBlock;
}

/// Fills the panel of columns [first, first + set.columns).
class PanelWriter {
 public:
  PanelWriter(const Integers& integers, PanelMatrix& out, int64_t panel)
      : integers_(integers),
        out_(out),
        panel_(panel),
        width_(out.set->columns),
        place_(shift_place(*out.set, integers.form)) {}

  void write() {
    int8_t* bytes = out_.bytes.data() + panel_ * out_.planes * out_.steps * width_ * kStep;
    for (int64_t block = 0; block < out_.blocks; ++block) {
      const int64_t first = block * kBlockSteps;
      const int64_t last = std::min(first + kBlockSteps, out_.steps);
      for (int64_t plane = 0; plane < out_.planes; ++plane) {
        for (int64_t step = first; step < last; ++step) bytes = write_step(step, plane, bytes);
      }
    }
    for (int64_t column = 0; column < width_; ++column) write_column(column);
  }

 private:
  [[nodiscard]] int64_t row_of(int64_t column) const { return panel_ * width_ + column; }
  [[nodiscard]] bool is_filler(int64_t column) const { return row_of(column) >= integers_.rows; }

  int8_t* write_step(int64_t step, int64_t plane, int8_t* bytes) const {
    for (int64_t column = 0; column < width_; ++column) {
      for (int64_t at = step * kStep; at < (step + 1) * kStep; ++at, ++bytes) {
        if (is_filler(column) || at >= integers_.k) continue;
        const int64_t row = row_of(column);
        const int32_t value = place_ == ShiftPlace::InBytes ? integers_.value(row, at)
                                                            : int32_t{integers_.mantissa(row, at)};
        *bytes = digit_of(value, out_.planes, plane);
      }
    }
    return bytes;
  }

  void write_column(int64_t column) const {
    if (is_filler(column)) return;
    const int64_t row = row_of(column);
    const int64_t flip = out_.set->row_flip;
    uint32_t start = 0;  // Modulo 2^32, as the kernels add.
    for (int64_t block = 0; block < out_.blocks; ++block) {
      const int64_t last = std::min((block + 1) * kBlock, integers_.k);
      int64_t sum = 0;
      int64_t mantissas = 0;
      for (int64_t at = block * kBlock; at < last; ++at) {
        sum += integers_.value(row, at);
        mantissas += integers_.mantissa(row, at);
      }
      start -= static_cast<uint32_t>(flip * sum);
      const int64_t at = (panel_ * out_.blocks + block) * width_ + column;
      out_.block_starts[static_cast<size_t>(at)] =
          static_cast<int32_t>(-flip * (place_ == ShiftPlace::AfterBlock ? mantissas : sum));
      for (int64_t plane = 0; plane < out_.planes; ++plane) {
        const int32_t shift = place_ == ShiftPlace::InBytes ? 0 : integers_.shift(row, block);
        const auto digit_shift = static_cast<int32_t>(4 * (out_.planes - 1 - plane));
        const int64_t place =
            ((panel_ * out_.blocks + block) * out_.planes + plane) * width_ + column;
        out_.shifts[static_cast<size_t>(place)] =
            shift_code(out_.set->shift_form, shift + digit_shift);
      }
    }
    out_.starts[static_cast<size_t>(panel_ * width_ + column)] = static_cast<int32_t>(start);
    out_.scales[static_cast<size_t>(panel_ * width_ + column)] =
        integers_.scales[static_cast<size_t>(row)];
  }

  const Integers& integers_;
  PanelMatrix& out_;
  int64_t panel_;
  int64_t width_;
  ShiftPlace place_;
};

/// The digits of a step's codes, to a column whose first one lies at `column`. Planes follow one
/// another block by block.
void put_digits(const int8_t* codes, const PanelMatrix& out, int64_t step, int8_t* column) {
  const int64_t block = step / kBlockSteps;
  const int64_t block_steps = std::min(kBlockSteps, out.steps - block * kBlockSteps);
  const int64_t first = step + block * kBlockSteps * (out.planes - 1);
  for (int64_t plane = 0; plane < out.planes; ++plane) {
    int8_t* const at = column + (first + plane * block_steps) * out.set->columns * kStep;
    for (int64_t i = 0; i < kStep; ++i) at[i] = digit_of(codes[i], out.planes, plane);
  }
}

int64_t panel_bytes(const PanelMatrix& panels) {
  return panels.planes * panels.steps * panels.set->columns * kStep;
}

}  // namespace

void require_supported(const quant::QuantSpec& spec) {
  const bool is_integer = !spec.is_none() && spec.format->element.bits <= 8 &&
                          spec.format->element.code_sign == formats::CodeSign::TwosComplement;
  const bool is_block =
      is_integer && spec.format->scaling == formats::Scaling::PowerOfTwo && spec.group == kBlock;
  const bool is_scaled = is_integer && (spec.granularity == Granularity::Channel ||
                                        spec.granularity == Granularity::Token ||
                                        spec.granularity == Granularity::Tensor);
  DRIFTLESS_REQUIRE(is_block || is_scaled, ErrorCode::Unsupported, "native product: format '",
                    to_string(spec), "'; expected mxint blocks of ", kBlock,
                    " or signed integers with a scale per tensor, channel or token");
}

RowMatrix make_rows(const QuantizedMatrix& matrix, const KernelSet& set) {
  const Integers integers = integers_of(matrix);
  const int64_t stride = integers.blocks * kBlock;
  RowMatrix out{&set, integers.form, integers.rows, integers.k, stride, integers.blocks};
  out.bytes.assign(static_cast<size_t>(out.rows * stride), set.row_flip);
  out.shifts.assign(integers.shifts.begin(), integers.shifts.end());
  out.scales.assign(integers.scales.begin(), integers.scales.end());
  const bool is_shifted = integers.form.fits_bytes();
  for (int64_t row = 0; row < out.rows; ++row) {
    for (int64_t at = 0; at < out.k; ++at) {
      const int32_t value =
          is_shifted ? integers.value(row, at) : int32_t{integers.mantissa(row, at)};
      out.bytes[static_cast<size_t>(row * stride + at)] =
          static_cast<uint8_t>(static_cast<uint8_t>(value) ^ set.row_flip);
    }
  }
  if (is_shifted) std::fill(out.shifts.begin(), out.shifts.end(), uint8_t{0});
  return out;
}

PanelMatrix make_panels(const QuantizedMatrix& matrix, const KernelSet& set) {
  const Integers integers = integers_of(matrix);
  PanelMatrix out{.set = &set,
                  .form = integers.form,
                  .columns = integers.rows,
                  .k = integers.k,
                  .steps = steps_of(integers.k),
                  .blocks = integers.blocks,
                  .planes = set.has_digits && integers.form.bits > 4 ? 2 : 1,
                  .panels = (integers.rows + set.columns - 1) / set.columns};
  const int64_t padded = out.panels * set.columns;
  out.bytes.resize(static_cast<size_t>(padded * out.planes * out.steps * kStep));
  out.starts.resize(static_cast<size_t>(padded));
  out.scales.resize(static_cast<size_t>(padded));
  out.block_starts.resize(static_cast<size_t>(padded * out.blocks));
  out.shifts.resize(static_cast<size_t>(padded * out.blocks * out.planes));
  for (int64_t panel = 0; panel < out.panels; ++panel) PanelWriter(integers, out, panel).write();
  return out;
}

PanelMatrix make_code_panels(int64_t columns, int64_t k, const KernelSet& set) {
  QuantizedMatrix zeros{
      .spec = quant::parse_quant_spec("int8/channel"), .rows = columns, .cols = k};
  zeros.scales.floats.resize(static_cast<size_t>(columns));
  zeros.codes.resize(static_cast<size_t>(columns * k));
  return make_panels(zeros, set);
}

void put_column(const CodeColumn& column, PanelMatrix& out, int64_t index) noexcept {
  const int64_t width = out.set->columns;
  const int64_t stride = width * kStep;  // between two steps
  const int64_t panel = index / width;
  int8_t* const first = out.bytes.data() + panel * panel_bytes(out) + index % width * kStep;
  const int64_t whole_steps = out.k / kStep;
  int8_t rest[kStep] = {};
  std::copy(column.codes + whole_steps * kStep, column.codes + out.k, rest);
  if (out.planes == 1) {
    for (int64_t step = 0; step < whole_steps; ++step)
      std::memcpy(first + step * stride, column.codes + step * kStep, kStep);
    if (whole_steps < out.steps) std::memcpy(first + whole_steps * stride, rest, kStep);
  } else {
    for (int64_t step = 0; step < out.steps; ++step)
      put_digits(step < whole_steps ? column.codes + step * kStep : rest, out, step, first);
  }
  int32_t sum = 0;
  for (int64_t i = 0; i < out.k; ++i) sum += column.codes[i];
  out.starts[static_cast<size_t>(index)] = (column.row_offset - out.set->row_flip) * sum;
  out.scales[static_cast<size_t>(index)] = column.scale;
}

IntegerForm integer_form(const QuantizedMatrix& matrix) { return integers_of(matrix).form; }

RowShifts row_shifts(const QuantizedMatrix& matrix) {
  Integers integers = integers_of(matrix);
  return {integers.form, std::move(integers.shifts), std::move(integers.scales)};
}

}  // namespace driftless::integer
