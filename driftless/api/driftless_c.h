/* SPDX-License-Identifier: Apache-2.0
 * The native engine for C and for whatever calls C. Functions that can fail return DRIFTLESS_OK or
 * the kind of the error, and driftless_last_error() then has the message. Nothing throws.
 *
 *   driftless_engine* engine = NULL;
 *   if (driftless_load("sudoku.safetensors", 2, &engine) != DRIFTLESS_OK)
 *     fprintf(stderr, "%s\n", driftless_last_error());
 *   driftless_solve(engine, tokens, 1, NULL, answers, NULL);
 *   driftless_free(engine);
 */
#ifndef DRIFTLESS_C_H
#define DRIFTLESS_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* C has no namespaces: names carry a prefix. NOLINTBEGIN(readability-identifier-naming) */
enum {
  DRIFTLESS_OK = 0,
  DRIFTLESS_ERROR_INVALID_ARGUMENT = 10,
  DRIFTLESS_ERROR_BAD_CONFIG = 11,
  DRIFTLESS_ERROR_BAD_FILE = 12,
  DRIFTLESS_ERROR_UNSUPPORTED = 13,
  DRIFTLESS_ERROR_IO = 14,
  DRIFTLESS_ERROR_NUMERIC = 15,
  DRIFTLESS_ERROR_INTERNAL = 16
};

/* A model ready to think, one call at a time: solving again from on_step or on a second thread is
 * DRIFTLESS_ERROR_INVALID_ARGUMENT. Free it when no call runs. */
typedef struct driftless_engine driftless_engine;

/* Seen after each step of each board. `tokens` is valid during the call. Return 0 to go on;
 * anything else ends driftless_solve with DRIFTLESS_ERROR_INVALID_ARGUMENT. */
typedef int (*driftless_on_step)(void* user, size_t board, int64_t step, const uint8_t* tokens,
                                 float halt_logit);

/* All zero is a good choice: stop when the model says so, at its trained number of steps at most.
 */
typedef struct {
  int64_t max_steps; /* 0: as many as the model was trained with */
  int all_steps;     /* not 0: never stop early */
  driftless_on_step on_step;
  void* user;
} driftless_solve_options;

/* A packed model or a float checkpoint (quantized to MXInt4 now), both safetensors. */
int driftless_load(const char* path, int64_t threads, driftless_engine** engine);
/* NULL is fine. */
void driftless_free(driftless_engine* engine);

/* Cells of a board, and the number of different tokens. */
int64_t driftless_cells(const driftless_engine* engine);
int64_t driftless_vocabulary(const driftless_engine* engine);

/* `tokens` and `answers` hold boards * cells tokens, board after board; `steps` one number a board,
 * or is NULL. `options` may be NULL. */
int driftless_solve(driftless_engine* engine, const uint8_t* tokens, size_t boards,
                    const driftless_solve_options* options, uint8_t* answers, int64_t* steps);

/* The message of the last function that failed on this thread; "" before the first. */
const char* driftless_last_error(void);

/* Such as "0.1.0". */
const char* driftless_version(void);
/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
