/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of activations to integers. */
#include "parts.h"

#define INFINITY_BITS 0x7f800000u

static uint32_t largest_bits(const float* x, uint32_t step, uint32_t count) {
  uint32_t largest = 0;
  uint32_t i;
  for (i = 0; i < count; i++) {
    const uint32_t bits = bits_of(x[i * step]) & 0x7fffffff;
    if (bits > largest) largest = bits;
  }
  return largest;
}

/* The shared exponent of a block whose largest magnitude has these bits. */
static int block_exponent(const activations* form, uint32_t bits) {
  int octave = -127, exponent, most;
  uint32_t fraction;
  if (bits == 0) return -127;
  if (bits < 0x800000) { /* counts units of 2^-149 */
    bits = bits_of((float)bits);
    octave -= 149;
  }
  octave += (int)(bits >> 23);
  fraction = bits & 0x7fffff;
  exponent = octave - form->max_exponent + (fraction >= form->raise_from ? 1 : 0) -
             (fraction < form->lower_below ? 1 : 0);
  most = 127 - form->max_exponent;
  return exponent < -127 ? -127 : exponent > most ? most : exponent;
}

/* The nearest integer, ties to even, as the low bits of a sum with 1.5 * 2^23 count it. */
static int8_t nearest(const activations* form, float value) {
  uint32_t bits;
  if (value < form->lowest) value = form->lowest;
  if (value > form->highest) value = form->highest;
  bits = bits_of(value + 12582912.0f) & 0xff;
  return (int8_t)((int32_t)(bits ^ 0x80) - 128);
}

/* Up to 32 values to the mantissas of a block; zeros fill it. Returns 0 for a value that is not
 * finite. */
static int encode_block(const activations* form, const float* x, uint32_t step, uint32_t count,
                        reasoner_code* codes, uint8_t* exponent_code) {
  const uint32_t largest = largest_bits(x, step, count);
  const float unit = power_of_two(form->fraction);
  float scale;
  uint32_t i;
  int exponent;
  if (largest >= INFINITY_BITS) return 0;
  exponent = block_exponent(form, largest);
  scale = power_of_two(-exponent);
  for (i = 0; i < count; i++) codes[i] = nearest(form, x[i * step] * scale * unit);
  for (; i < 32; i++) codes[i] = 0;
  *exponent_code = (uint8_t)(exponent + 127);
  return 1;
}

/* m / 2^shift, to nearest, ties to even. */
static reasoner_code shifted_right(reasoner_code m, int shift) {
  const uint32_t size = (uint32_t)(m < 0 ? -m : m);
  uint32_t whole, rest, half;
  if (shift > 31) return 0;
  whole = size >> shift;
  rest = size & (((uint32_t)1 << shift) - 1);
  half = (uint32_t)1 << (shift - 1);
  if (rest > half || (rest == half && (whole & 1) != 0)) whole++;
  return (reasoner_code)(m < 0 ? -(int32_t)whole : (int32_t)whole);
}

/* Applies the window to a row of mantissas whose `shifts` are exponent codes yet. */
static void finish_row(const activations* form, const rows* out, uint32_t row) {
  reasoner_code* codes = out->codes + row * out->blocks * 32;
  uint8_t* const shifts = out->shifts + row * out->blocks;
  int top = 0, base;
  uint32_t block, i;
  for (block = 0; block < out->blocks; block++)
    if (shifts[block] > top) top = shifts[block];
  base = top - form->window;
  for (block = 0; block < out->blocks; block++, codes += 32) {
    const int shift = shifts[block] - base;
    const int factor = shift > 0 && form->bytes_fit ? 1 << shift : 1;
    shifts[block] = (uint8_t)(shift > 0 && !form->bytes_fit ? shift : 0);
    if (shift < 0)
      for (i = 0; i < 32; i++) codes[i] = shifted_right(codes[i], -shift);
    else if (factor > 1)
      for (i = 0; i < 32; i++) codes[i] = (reasoner_code)(codes[i] * factor);
  }
  out->scales[row] = power_of_two(base - 127 - form->fraction);
}

/* One scale for the whole row. */
static int scale_row(const activations* form, const float* x, uint32_t step, uint32_t count,
                     const rows* out, uint32_t row) {
  reasoner_code* const codes = out->codes + row * out->blocks * 32;
  const uint32_t largest = largest_bits(x, step, count);
  const float most = form->highest > -form->lowest ? form->highest : -form->lowest;
  const float least = power_of_two(-126);
  float scale;
  uint32_t i;
  if (largest >= INFINITY_BITS) return 0;
  scale = float_of(largest) / most;
  if (scale < least) scale = least;
  while ((bits_of(scale * most) & 0x7fffffff) >= INFINITY_BITS)
    scale = float_of(bits_of(scale) - 1);
  for (i = 0; i < count; i++) codes[i] = nearest(form, x[i * step] / scale);
  for (; i < out->blocks * 32; i++) codes[i] = 0;
  memset(out->shifts + row * out->blocks, 0, out->blocks);
  out->scales[row] = scale;
  return 1;
}

/* `count` values, `step` apart, to a row. Returns 0 for a value that is not finite. */
static int quantize_row(const activations* form, const float* x, uint32_t step, uint32_t count,
                        const rows* out, uint32_t row) {
  uint32_t block;
  if (!form->is_block) return scale_row(form, x, step, count, out, row);
  for (block = 0; block < out->blocks; block++) {
    const uint32_t left = count - block * 32;
    if (!encode_block(form, x + block * 32 * step, step, left < 32 ? left : 32,
                      out->codes + (row * out->blocks + block) * 32,
                      out->shifts + row * out->blocks + block))
      return 0;
  }
  finish_row(form, out, row);
  return 1;
}
