/* SPDX-License-Identifier: Apache-2.0
 * Number formats on arrays of float32, as docs/numerics.md defines them to the bit.
 *
 *   driftless_quantize("mxint4,rule=mse", values, rows, columns, values);
 *
 * A matrix is row-major with the reduction axis along a row. Errors are those of driftless_c.h.
 */
#ifndef DRIFTLESS_ARRAYS_H
#define DRIFTLESS_ARRAYS_H

#include "driftless_c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* C has no namespaces: names carry a prefix. NOLINTBEGIN(readability-identifier-naming) */
typedef struct {
  const char* name;
  int bits; /* of an element */
  double bits_with_scale;
  int64_t block;       /* elements that share a scale; 1 for element formats */
  const char* scaling; /* "none", "e8m0" or "e4m3" */
  float max;
  float smallest; /* positive value */
} driftless_format;

/* The number of formats, and the one at an index. Texts live as long as the library. */
int64_t driftless_format_count(void);
int driftless_format_at(int64_t index, driftless_format* format);

/* The names of the exponent rules of mx formats, and NULL behind the last one. */
const char* driftless_exponent_rule(int64_t index);

/* The canonical text of a quantizer. Free it. */
int driftless_parse_quantizer(const char* quantizer, char** canonical);

/* Writes the quantized values of `in` to `out`, which may be the same memory. */
int driftless_quantize(const char* quantizer, const float* in, int64_t rows, int64_t columns,
                       float* out);

/* 1 for each value that the quantizer does not clip, 0 for the others: where a straight-through
 * gradient passes (docs/numerics.md, Training through quantizers). */
int driftless_inside(const char* quantizer, const float* in, int64_t rows, int64_t columns,
                     uint8_t* inside);

/* What `driftless codec encode` writes for the values, and back: an element format is cast without
 * a scale, a block format brings its own. Values of a padded last block are part of what decode
 * makes. Free bytes and values. */
int driftless_encode(const char* format, const float* values, size_t count, uint8_t** bytes,
                     size_t* size);
int driftless_decode(const char* format, const uint8_t* bytes, size_t size, float** values,
                     size_t* count);

/* The instruction set whose kernels quantize and multiply here, such as "avx512vnni". */
int driftless_instruction_set(const char** name);
/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
