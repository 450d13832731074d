// SPDX-License-Identifier: Apache-2.0
#include "driftless/integer/operand.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/formats/e8m0fnu.h"
#include "driftless/formats/float_bits.h"
#include "driftless/quant/runs.h"
#include "driftless/quant/scale/window.h"

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

  [[nodiscard]] uint8_t shift(int64_t row, int64_t block) const {
    return shifts[static_cast<size_t>(row * blocks + block)];
  }
};

int64_t block_count(int64_t k) { return (k + kBlock - 1) / kBlock; }

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

/// Whether a block of a row has a mantissa other than zero.
bool has_values(const QuantizedMatrix& matrix, int64_t row, int64_t block) {
  const int mask = (1 << matrix.spec.format->element.bits) - 1;
  const auto first = matrix.codes.begin() + row * matrix.cols;
  const int64_t last = std::min((block + 1) * kBlock, matrix.cols);
  return std::any_of(first + block * kBlock, first + last,
                     [mask](uint8_t code) { return (code & mask) != 0; });
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
    for (int64_t block = 0; block < integers.blocks; ++block) {
      if (!has_values(matrix, row, block)) continue;
      widest = std::max(widest, below_largest(codes, codes[static_cast<size_t>(block)]));
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
    for (int64_t block = 0; block < integers.blocks; ++block) {
      const int shift = codes[static_cast<size_t>(block)] - base;
      DRIFTLESS_REQUIRE(shift >= 0 || !has_values(matrix, row, block), ErrorCode::BadFile,
                        "native product: exponent of row ", row, ", block ", block, " lies ",
                        integers.form.window - shift, " octaves below the row's largest, expected ",
                        "at most the window of ", integers.form.window);
      integers.shifts[static_cast<size_t>(row * integers.blocks + block)] =
          static_cast<uint8_t>(std::max(shift, 0));
    }
    integers.scales.push_back(
        formats::power_of_two(base - formats::E8m0fnu::kBias - fraction_bits));
  }
}

/// All but the mantissas.
Integers scales_of(const QuantizedMatrix& matrix) {
  require_supported(matrix.spec);
  require_consistent(matrix);
  if (matrix.spec.has_scale_codes()) return scales_of(quant::integer_rows(matrix));
  const int bits = matrix.spec.format->element.bits;
  const int64_t blocks = block_count(matrix.cols);
  Integers integers{{bits, 0}, matrix.rows, matrix.cols, blocks, {}, {}, {}};
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

Integers integers_of(const QuantizedMatrix& matrix) {
  if (matrix.spec.has_scale_codes()) {
    require_supported(matrix.spec);
    require_consistent(matrix);
    return integers_of(quant::integer_rows(matrix));
  }
  Integers integers = scales_of(matrix);
  const int bits = matrix.spec.format->element.bits;
  integers.mantissas.resize(matrix.codes.size());
  std::transform(matrix.codes.begin(), matrix.codes.end(), integers.mantissas.begin(),
                 [bits](uint8_t code) { return mantissa_of(code, bits); });
  return integers;
}

/// The two digits of a mantissa: high * 16 + low, both within -8 ... 8.
int8_t digit_of(int32_t mantissa, int64_t planes, int64_t plane) {
  if (planes == 1) return static_cast<int8_t>(mantissa);
  const int32_t high = (mantissa + 8) >> 4;
  return static_cast<int8_t>(plane == 0 ? high : mantissa - high * 16);
}

int32_t shift_code(ShiftForm form, int32_t shift) {
  if (form == ShiftForm::Count) return shift;
  return (int32_t{1} << shift) * (form == ShiftForm::Factor ? 1 : 0x10001);
}

/// Where the shifts of a panel's blocks are.
enum class ShiftPlace : uint8_t {
  InBytes,     // mantissas are stored shifted
  WithDigits,  // digits are shifted when they are widened
  AfterBlock,  // a block's whole sum is shifted, what it starts at included
};

ShiftPlace shift_place(const PanelMatrix& panels) {
  if (panels.set->has_digits) return ShiftPlace::WithDigits;
  const bool fits = panels.form.fits_bytes() && !panels.is_paired;
  return fits ? ShiftPlace::InBytes : ShiftPlace::AfterBlock;
}

int64_t panel_bytes(const PanelMatrix& panels) {
  return panels.planes * panels.steps * panels.set->columns * kStep;
}

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

/// `steps` steps of codes to a column whose first one lies at `column`.
void put_steps(const int8_t* codes, const PanelMatrix& out, int64_t steps, int8_t* column) {
  const int64_t stride = out.set->columns * kStep;
  if (out.planes == 1) {
    for (int64_t step = 0; step < steps; ++step)
      std::memcpy(column + step * stride, codes + step * kStep, kStep);
  } else {
    for (int64_t step = 0; step < steps; ++step)
      put_digits(codes + step * kStep, out, step, column);
  }
}

/// Fills the columns of panels, each from a row of the integers.
class PanelWriter {
 public:
  PanelWriter(const Integers& integers, PanelMatrix& out)
      : integers_(integers),
        out_(out),
        width_(out.set->columns),
        place_(shift_place(out)),
        line_(static_cast<size_t>(integers.blocks * kBlock)) {}

  void write(int64_t row) {
    const int64_t panel = row / width_;
    const int64_t column = row % width_;
    uint32_t start = 0;  // Modulo 2^32, as the kernels add.
    for (int64_t block = 0; block < out_.blocks; ++block) start -= write_block(row, block);
    int8_t* const first = out_.bytes.data() + panel * panel_bytes(out_) + column * kStep;
    put_steps(line_.data(), out_, (integers_.k + kStep - 1) / kStep, first);
    out_.starts[static_cast<size_t>(row)] = static_cast<int32_t>(start);
    out_.scales[static_cast<size_t>(row)] = integers_.scales[static_cast<size_t>(row)];
  }

 private:
  /// Fills the line and what belongs to the block. Returns what its sums have too much.
  uint32_t write_block(int64_t row, int64_t block) {
    const int64_t flip = out_.set->row_flip;
    const int32_t shift = integers_.shift(row, block);
    const int64_t length = std::min(kBlock, integers_.k - block * kBlock);
    const int8_t* const mantissas = integers_.mantissas.data() + row * integers_.k + block * kBlock;
    int8_t* const line = line_.data() + block * kBlock;
    const int32_t factor = place_ == ShiftPlace::InBytes ? int32_t{1} << shift : 1;
    int32_t sum = 0;
    for (int64_t i = 0; i < length; ++i) {
      sum += mantissas[i];
      line[i] = static_cast<int8_t>(mantissas[i] * factor);
    }
    const int64_t shifted = int64_t{sum} * (int64_t{1} << shift);
    const int64_t place = row / width_ * out_.blocks + block;
    const int64_t column = row % width_;
    out_.block_starts[static_cast<size_t>(place * width_ + column)] =
        static_cast<int32_t>(-flip * (place_ == ShiftPlace::AfterBlock ? sum : shifted));
    for (int64_t plane = 0; plane < out_.planes; ++plane) {
      const auto digit_shift = static_cast<int32_t>(4 * (out_.planes - 1 - plane));
      out_.shifts[static_cast<size_t>((place * out_.planes + plane) * width_ + column)] =
          shift_code(out_.is_paired ? ShiftForm::Factor : out_.set->shift_form,
                     (place_ == ShiftPlace::InBytes ? 0 : shift) + digit_shift);
    }
    return static_cast<uint32_t>(flip * shifted);
  }

  const Integers& integers_;
  PanelMatrix& out_;
  int64_t width_;
  ShiftPlace place_;
  std::vector<int8_t> line_;  // zero after the last value
};

enum class PanelOrder : uint8_t { Steps, Pairs };

PanelMatrix panels_of(const Integers& integers, const KernelSet& set, PanelOrder order) {
  PanelMatrix out{.set = &set,
                  .form = integers.form,
                  .columns = integers.rows,
                  .k = integers.k,
                  .steps = panel_steps(integers.k, set),
                  .blocks = integers.blocks,
                  .planes = set.has_digits && integers.form.bits > 4 ? 2 : 1,
                  .panels = (integers.rows + set.columns - 1) / set.columns,
                  .is_paired = order == PanelOrder::Pairs};
  const int64_t padded = out.panels * set.columns;
  out.bytes.resize(static_cast<size_t>(padded * out.planes * out.steps * kStep));
  out.starts.resize(static_cast<size_t>(padded));
  out.scales.resize(static_cast<size_t>(padded));
  out.block_starts.resize(static_cast<size_t>(padded * out.blocks));
  out.shifts.resize(static_cast<size_t>(padded * out.blocks * out.planes));
  PanelWriter writer(integers, out);
  for (int64_t row = 0; row < integers.rows; ++row) writer.write(row);
  // Panels follow one another.
  if (out.is_paired) set.pair(out.bytes.data(), out.panels * out.steps);
  return out;
}

/// k, or the least multiple of `unit` above it.
int64_t rounded_up(int64_t k, int64_t unit) { return (k + unit - 1) / unit * unit; }

}  // namespace

int64_t row_stride(int64_t k, const KernelSet& set) noexcept {
  return rounded_up(rounded_up(k, kBlock), set.depth);
}

int64_t panel_steps(int64_t k, const KernelSet& set) noexcept {
  return rounded_up(k, set.depth) / kStep;
}

void require_supported(const quant::QuantSpec& spec) {
  const bool is_integer = !spec.is_none() && spec.format->element.bits <= 8 &&
                          spec.format->element.code_sign == formats::CodeSign::TwosComplement;
  const bool is_block =
      is_integer && spec.format->scaling == formats::Scaling::PowerOfTwo && spec.group == kBlock;
  const bool is_scaled = is_integer && (spec.granularity == Granularity::Channel ||
                                        spec.granularity == Granularity::Token ||
                                        spec.granularity == Granularity::Tensor);
  const bool is_on_units = is_integer && spec.has_scale_codes() && spec.group == kBlock;
  DRIFTLESS_REQUIRE(is_block || is_scaled || is_on_units, ErrorCode::Unsupported,
                    "native product: format '", to_string(spec), "'; expected mxint blocks of ",
                    kBlock, ", integers in blocks of ", kBlock,
                    " with scale=, or signed integers with a scale per tensor, channel or token");
  DRIFTLESS_REQUIRE(!is_on_units || quant::has_integer_rows(spec), ErrorCode::Unsupported,
                    "native product: format '", to_string(spec), "'; expected ",
                    quant::kSuitsIntegers);
}

RowMatrix make_rows(const QuantizedMatrix& matrix, const KernelSet& set) {
  const Integers integers = integers_of(matrix);
  const int64_t stride = row_stride(integers.k, set);
  RowMatrix out{&set, integers.form, integers.rows, integers.k, stride, integers.blocks};
  out.bytes.assign(static_cast<size_t>(out.rows * stride), set.row_flip);
  out.shifts.assign(integers.shifts.begin(), integers.shifts.end());
  out.scales.assign(integers.scales.begin(), integers.scales.end());
  const bool is_shifted = are_shifted(integers.form, set);
  for (int64_t row = 0; row < out.rows; ++row) {
    for (int64_t block = 0; block < out.blocks; ++block) {
      const int64_t length = std::min(kBlock, out.k - block * kBlock);
      const int8_t* const mantissas = integers.mantissas.data() + row * out.k + block * kBlock;
      uint8_t* const bytes = out.bytes.data() + row * stride + block * kBlock;
      const int32_t factor = is_shifted ? int32_t{1} << integers.shift(row, block) : 1;
      for (int64_t i = 0; i < length; ++i)
        bytes[i] = static_cast<uint8_t>(static_cast<uint8_t>(mantissas[i] * factor) ^ set.row_flip);
    }
  }
  if (is_shifted) std::fill(out.shifts.begin(), out.shifts.end(), uint8_t{0});
  return out;
}

PanelMatrix make_panels(const QuantizedMatrix& matrix, const KernelSet& set) {
  return panels_of(integers_of(matrix), set, PanelOrder::Steps);
}

PanelMatrix make_panels(const QuantizedMatrix& matrix, const KernelSet& set,
                        const IntegerForm& rows) {
  const Integers integers = integers_of(matrix);
  const bool is_paired =
      set.pair != nullptr && are_narrow(rows, set) &&
      std::all_of(integers.mantissas.begin(), integers.mantissas.end(),
                  [](int8_t mantissa) { return std::abs(mantissa) <= kLargestPaired; });
  return panels_of(integers, set, is_paired ? PanelOrder::Pairs : PanelOrder::Steps);
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
  const int64_t panel = index / width;
  int8_t* const first = out.bytes.data() + panel * panel_bytes(out) + index % width * kStep;
  const int64_t whole_steps = out.k / kStep;
  put_steps(column.codes, out, whole_steps, first);
  if (whole_steps * kStep < out.k) {
    int8_t rest[kStep] = {};
    std::copy(column.codes + whole_steps * kStep, column.codes + out.k, rest);
    if (out.planes == 1)
      std::memcpy(first + whole_steps * width * kStep, rest, kStep);
    else
      put_digits(rest, out, whole_steps, first);
  }
  int32_t sum = 0;
  for (int64_t i = 0; i < out.k; ++i) sum += column.codes[i];
  out.starts[static_cast<size_t>(index)] = (column.row_offset - out.set->row_flip) * sum;
  out.scales[static_cast<size_t>(index)] = column.scale;
}

IntegerForm integer_form(const QuantizedMatrix& matrix) { return scales_of(matrix).form; }

RowShifts row_shifts(const QuantizedMatrix& matrix) {
  Integers integers = scales_of(matrix);
  return {integers.form, std::move(integers.shifts), std::move(integers.scales)};
}

}  // namespace driftless::integer
