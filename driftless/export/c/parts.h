/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of an exported source share. The exporter puts it first and the parts after it,
 * without their includes. */
#ifndef REASONER_PARTS_H
#define REASONER_PARTS_H

#include <string.h>

#include "reasoner.h"

#if defined(__FAST_MATH__)
#error "reasoner: compile without -ffast-math: it changes bits"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error "reasoner: floats must be rounded to 32 bits at once: on x86 compile with -mfpmath=sse"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__) && !defined(__STRICT_ANSI__) && !defined(REASONER_CONTRACTS_NOTHING)
#error "reasoner: compile with -std=c99, or -ffp-contract=off -DREASONER_CONTRACTS_NOTHING"
#endif

/* Where constants go, such as external flash: an attribute of the compiler's. */
#ifndef REASONER_CONST
#define REASONER_CONST /*@section@*/
#endif

/* Constants that are bfloat16 where that holds them all: `half` or `whole` is null. */
typedef struct {
  const uint16_t* half;
  const float* whole;
} table;

/* The weights of a linear layer, in blocks of 32 along the inputs: mantissas of `bits` bits, low
 * bits first, those of 4 bits with codes 0 to 15 in the low halves of a block's 16 bytes. Rows have
 * exponents by block (`exponents`, largest shift `window`), or scales: one each or one for all. */
typedef struct {
  const uint8_t* codes;
  const uint8_t* exponents;
  const float* scales;
  uint32_t outputs, inputs;
  uint8_t bits, window, fraction, scale_step, bytes_fit;
} weights;

/* How the inputs of a layer become integers: in blocks of 32 with an exponent each, all within
 * `window` of the row's largest, or by a scale a row where `is_block` is 0. */
typedef struct {
  float lowest, highest; /* integers */
  uint32_t raise_from, lower_below;
  int16_t max_exponent;
  uint8_t is_block, bits, window, fraction, bytes_fit;
} activations;

typedef struct {
  weights weight;
  activations input;
} linear;

/* Quantized rows: `blocks` blocks of 32 integers each. Shifts are left over where shifted integers
 * do not fit bytes. */
typedef struct {
  reasoner_code* codes;
  uint8_t* shifts;
  float* scales;
  uint32_t blocks;
} rows;

#endif
