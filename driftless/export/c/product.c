/* SPDX-License-Identifier: Apache-2.0 */
/* Products of quantized rows and weights: exact sums of integers, then one float product each. */
#include "parts.h"

/* Where products go: product i of row r is put at, or added to, out[r * row_step + i * step]. */
typedef struct {
  float* out;
  uint32_t row_step, step;
  int adds;
} target;

/* The largest exponent code of an output's row less the window: shifts count from there. */
static int base_of(const weights* w, uint32_t blocks, uint32_t output) {
  const uint8_t* const codes = w->exponents + output * blocks;
  int top = 0;
  uint32_t block;
  for (block = 0; block < blocks; block++)
    if (codes[block] > top) top = codes[block];
  return top - w->window;
}

/* A block of zeros may lie below the window. */
static unsigned shift_of(const weights* w, uint32_t blocks, uint32_t output, uint32_t block,
                         int base) {
  const int shift = w->exponents == 0 ? 0 : w->exponents[output * blocks + block] - base;
  return shift < 0 ? 0 : (unsigned)shift;
}

static float scale_of(const weights* w, uint32_t output, int base) {
  if (w->exponents == 0) return w->scales[output * w->scale_step];
  return power_of_two(base - 127 - w->fraction);
}

/* Mantissas of a block times 2^shift, for widths other than 4 too. */
static void unpack_block(const uint8_t* codes, unsigned bits, unsigned shift, int8_t* out) {
  const uint32_t sign = (uint32_t)1 << (bits - 1);
  uint32_t window = 0;
  unsigned filled = 0;
  int i;
  for (i = 0; i < 32; i++) {
    uint32_t code;
    if (filled < bits) {
      window |= (uint32_t)*codes++ << filled;
      filled += 8;
    }
    code = window & (2 * sign - 1);
    window >>= bits;
    filled -= bits;
    out[i] = (int8_t)(((int32_t)(code ^ sign) - (int32_t)sign) * (1 << shift));
  }
}

/* The weights of two outputs to the kernels' place. */
static void take_weights(const weights* w, uint32_t blocks, const uint32_t* outputs, int32_t* work,
                         float* scales) {
  const uint32_t bytes = 4 * (uint32_t)w->bits;
  const uint8_t* codes[2];
  int8_t values[2][32];
  const int8_t* const both[2] = {values[0], values[1]};
  int base[2] = {0, 0};
  uint32_t block, j;
  for (j = 0; j < 2; j++) {
    codes[j] = w->codes + outputs[j] * blocks * bytes;
    if (w->exponents != 0) base[j] = base_of(w, blocks, outputs[j]);
    scales[j] = scale_of(w, outputs[j], base[j]);
  }
  for (block = 0; block < blocks; block++, work += REASONER_PLACE / 2) {
    unsigned shifts[2];
    for (j = 0; j < 2; j++) shifts[j] = shift_of(w, blocks, outputs[j], block, base[j]);
    if (w->bits == 4) {
      reasoner_put4(work, codes, shifts);
    } else {
      for (j = 0; j < 2; j++) unpack_block(codes[j], w->bits, shifts[j], values[j]);
      reasoner_put8(work, both);
    }
    for (j = 0; j < 2; j++) codes[j] += bytes;
  }
}

/* The sums of two outputs and `count` rows. Where the kernels take more at a time than are left,
 * the last one stands in, and its sums are written after those that count. */
static void sum_rows(const int32_t* work, const rows* in, uint32_t count, int32_t* sums) {
  const reasoner_code* together[REASONER_ROWS];
  uint32_t row, i;
  for (row = 0; row < count; row += REASONER_ROWS) {
    for (i = 0; i < REASONER_ROWS; i++)
      together[i] = in->codes + (row + i < count ? row + i : count - 1) * in->blocks * 32;
    reasoner_dot(work, in->blocks, together, sums + 2 * row);
  }
}

static void put(const target* to, uint32_t row, uint32_t at, float value) {
  float* const out = to->out + row * to->row_step + at * to->step;
  *out = to->adds ? *out + value : value;
}

#if REASONER_ALL_BYTES == 0
static void unpack4(const uint8_t* codes, int8_t* out) {
  int i;
  for (i = 0; i < 16; i++) {
    out[i] = (int8_t)(((codes[i] & 15) ^ 8) - 8);
    out[16 + i] = (int8_t)(((codes[i] >> 4) ^ 8) - 8);
  }
}

/* The sum of one output and one row where shifts do not fit bytes, block by block. */
static int32_t shifted_sum(const weights* w, uint32_t output, const rows* in, uint32_t row,
                           int base) {
  const uint8_t* codes = w->codes + output * in->blocks * 4 * w->bits;
  const reasoner_code* x = in->codes + row * in->blocks * 32;
  uint32_t sum = 0; /* modulo 2^32; the whole sum fits */
  int8_t values[32];
  uint32_t block;
  int i;
  for (block = 0; block < in->blocks; block++, codes += 4 * w->bits, x += 32) {
    int32_t part = 0;
    const unsigned shift = shift_of(w, in->blocks, output, block, base);
    if (w->bits == 4)
      unpack4(codes, values);
    else
      unpack_block(codes, w->bits, 0, values);
    for (i = 0; i < 32; i++) part += values[i] * x[i];
    sum += (uint32_t)part << (shift + in->shifts[row * in->blocks + block]);
  }
  return sum < 0x80000000 ? (int32_t)sum : -(int32_t)(0xffffffff - sum) - 1;
}

static void multiply_shifted(const weights* w, uint32_t first, uint32_t outputs, const rows* in,
                             uint32_t count, const target* to) {
  uint32_t i, row;
  for (i = 0; i < outputs; i++) {
    const int base = w->exponents == 0 ? 0 : base_of(w, in->blocks, first + i);
    const float scale = scale_of(w, first + i, base);
    for (row = 0; row < count; row++)
      put(to, row, i, (float)shifted_sum(w, first + i, in, row, base) * (in->scales[row] * scale));
  }
}
#endif

/* Outputs [first, first + outputs) of `count` rows, at most REASONER_TILE. */
static void multiply(const linear* layer, uint32_t first, uint32_t outputs, const rows* in,
                     uint32_t count, int32_t* work, const target* to) {
  const weights* const w = &layer->weight;
  int32_t sums[2 * (REASONER_TILE + REASONER_ROWS - 1)];
  uint32_t i, j, row;
#if REASONER_ALL_BYTES == 0
  if (!w->bytes_fit || !layer->input.bytes_fit) {
    multiply_shifted(w, first, outputs, in, count, to);
    return;
  }
#endif
  for (i = 0; i < outputs; i += 2) {
    const uint32_t pair = outputs - i < 2 ? 1 : 2;
    const uint32_t both[2] = {first + i, first + i + pair - 1};
    float scales[2];
    take_weights(w, in->blocks, both, work, scales);
    sum_rows(work, in, count, sums);
    for (row = 0; row < count; row++)
      for (j = 0; j < pair; j++)
        put(to, row, i + j, (float)sums[2 * row + j] * (in->scales[row] * scales[j]));
  }
}
