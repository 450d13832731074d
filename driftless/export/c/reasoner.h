/* SPDX-License-Identifier: Apache-2.0 */
/* reasoner: a recursive reasoning model as plain C99, written by driftless export c.
 *
 *   static reasoner model;                      all memory there is: REASONER_ARENA_BYTES
 *   reasoner_init(&model);
 *   reasoner_set_board(&model, tokens, 0);
 *   reasoner_step(&model, &halt);               until halt is above 0, or often enough
 *   reasoner_answer(&model, tokens);
 *
 * States after every step have the bits of driftless' native engine. No heap, no library but
 * <stdint.h> and <string.h>; any number of objects at the same time. */
#ifndef REASONER_H
#define REASONER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*@sizes@*/

/* The kernels of the products, chosen when the code is compiled; all give the same sums. A file
 * reasoner_kernels_NAME.c brings each but those in plain C, which reasoner.c has. */
#define REASONER_KERNELS_C 0
#define REASONER_KERNELS_DSP 1
#define REASONER_KERNELS_MVE 2
#define REASONER_KERNELS_RISCV 3
#ifndef REASONER_KERNELS
/*@kernels@*/
#endif

/* What they work on: bytes that 32 weights take once they are unpacked, rows of activations that
 * are multiplied together, and the integers of such a row. */
#if REASONER_KERNELS == REASONER_KERNELS_C
#define REASONER_PLACE 68
#define REASONER_ROWS 4
typedef int8_t reasoner_code;
#elif REASONER_KERNELS == REASONER_KERNELS_DSP
#define REASONER_PLACE 64
#define REASONER_ROWS 2
typedef int16_t reasoner_code;
#else
#define REASONER_PLACE 32
#define REASONER_ROWS 2
typedef int8_t reasoner_code;
#endif

enum {
  REASONER_OK = 0,
  REASONER_BAD_TOKEN = 1,  /* a token of the board is not below REASONER_VOCABULARY */
  REASONER_BAD_PUZZLE = 2, /* the puzzle is not below REASONER_PUZZLES */
  REASONER_NO_BOARD = 3,   /* nothing to step or answer: no board since init or an error */
  REASONER_NOT_FINITE = 4, /* an activation is a NaN or an infinity; the board is lost */
  REASONER_MISMATCH = 5,   /* the self-test's states have other bits than the native engine's */
  REASONER_BAD_BUILD = 6,  /* the compiler fused a product with a sum, or rounds in another way */
  REASONER_BAD_CELL = 7    /* the cell is not below REASONER_CELLS */
};

/*@arena@*/

/* Must come first. Returns REASONER_OK or REASONER_BAD_BUILD. */
int reasoner_init(reasoner* model);
/* REASONER_CELLS tokens; the puzzle is a row of the model's table, 0 for most. */
int reasoner_set_board(reasoner* model, const uint8_t* tokens, uint32_t puzzle);
/* One supervision step; the halt logit goes to `halt`, unless that is null. */
int reasoner_step(reasoner* model, float* halt);
/* The likeliest token of each cell. */
int reasoner_answer(reasoner* model, uint8_t* tokens);
/* REASONER_VOCABULARY logits of a cell. */
int reasoner_logits(reasoner* model, uint32_t cell, float* logits);
/* FNV-1a, 64 bits, of the bits of z_h, z_l and both halt logits, low bytes first. */
uint64_t reasoner_hash(const reasoner* model);
/* One step of a board of its own against the native engine's hash. Takes the model's place. */
int reasoner_self_test(reasoner* model);

/* What the kernels provide. `work` has two rows of weights, block by block: both blocks b at byte
 * 2 b * REASONER_PLACE. The first two put blocks there, of both rows; the third makes the sums of
 * REASONER_ROWS rows with both, that of row r and output i at sums[2 r + i]. */
void reasoner_put4(int32_t* work, const uint8_t* const* codes, const unsigned* shifts);
void reasoner_put8(int32_t* work, const int8_t* const* values);
void reasoner_dot(const int32_t* work, uint32_t blocks, const reasoner_code* const* rows,
                  int32_t* sums);

#ifdef __cplusplus
}
#endif

#endif
