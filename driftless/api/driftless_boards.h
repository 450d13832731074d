/* SPDX-License-Identifier: Apache-2.0
 * Boards with their answers by task, and what a model does with them.
 *
 *   driftless_boards* boards = NULL;
 *   driftless_read_boards(engine, NULL, "boards.csv", NULL, 100, &boards);
 *   driftless_evaluate(engine, boards, NULL, &json);
 *
 * Errors are those of driftless_c.h.
 */
#ifndef DRIFTLESS_BOARDS_H
#define DRIFTLESS_BOARDS_H

#include "driftless_c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* C has no namespaces: names carry a prefix. NOLINTBEGIN(readability-identifier-naming) */
/* Boards of one task and size, each with its answer. */
typedef struct driftless_boards driftless_boards;

/* The name of a task, and NULL behind the last one. */
const char* driftless_task(int64_t index);

/* A file of the task, a data-set folder or one of its splits. With an engine the boards are those
 * of its task and fit it; without one `task` names it, or NULL has the file say. `split` NULL is
 * "test"; `limit` 0 is all. */
int driftless_read_boards(const driftless_engine* engine, const char* task, const char* path,
                          const char* split, int64_t limit, driftless_boards** boards);
/* Boards of the task's generator; `cells` 0 is the usual size. */
int driftless_generate_boards(const char* task, int64_t count, int64_t cells, uint64_t seed,
                              driftless_boards** boards);
/* Boards of your own: count * cells tokens each, and a puzzle row a board or NULL. */
int driftless_make_boards(const char* task, const uint8_t* inputs, const uint8_t* labels,
                          const int64_t* puzzles, size_t count, size_t cells,
                          driftless_boards** boards);
/* NULL is fine. */
void driftless_free_boards(driftless_boards* boards);

/* 0 and "" for NULL. */
int64_t driftless_board_count(const driftless_boards* boards);
int64_t driftless_board_cells(const driftless_boards* boards);
const char* driftless_board_task(const driftless_boards* boards);
/* Copies count * cells tokens each, and a puzzle row a board; NULL is left out. */
int driftless_copy_boards(const driftless_boards* boards, uint8_t* inputs, uint8_t* labels,
                          int64_t* puzzles);

enum { DRIFTLESS_WRONG = 0, DRIFTLESS_ACCEPTED = 1, DRIFTLESS_EXACT = 2 };
/* Judges an answer by the rules of a task: accepted is another right one than the label. */
int driftless_check(const char* task, const uint8_t* input, const uint8_t* label,
                    const uint8_t* answer, size_t cells, int* outcome);
/* Tokens as text, a character a cell, and as lines where the task draws boards. Free it. */
int driftless_board_text(const char* task, const uint8_t* tokens, size_t cells, char** text);
int driftless_draw_board(const char* task, const uint8_t* tokens, size_t cells, char** lines);
/* The tokens of a text, a character each: `tokens` holds as many as the text has. */
int driftless_board_tokens(const char* task, const char* text, uint8_t* tokens);

/* Hears how much is done. Return 0 to go on; anything else ends the call with
 * DRIFTLESS_ERROR_INVALID_ARGUMENT. */
typedef int (*driftless_on_progress)(void* user, int64_t done, int64_t total);

/* All zero: the model's steps, every one of them, seed 0. */
typedef struct {
  int64_t max_steps;
  const char* halting; /* NULL is "fixed"; "halt", "stable" */
  uint64_t seed;       /* of EqR's states and noise; board i takes seed + i */
  driftless_on_progress on_progress;
  void* user;
} driftless_evaluate_options;

/* One JSON object: exact, accepted and cells with their 95 % intervals, mean_steps, wall_s. Free
 * it. Models for ARC vote and are Unsupported here. */
int driftless_evaluate(driftless_engine* engine, const driftless_boards* boards,
                       const driftless_evaluate_options* options, char** json);

typedef struct {
  size_t size; /* sizeof(driftless_ladder_options) */
  const char* const* schemes;
  size_t scheme_count; /* 0: those of `driftless ladder` */
  const char* coverage;
  int64_t steps;
  int64_t limit;
  uint64_t seed;
  const char* device;
  int64_t threads;
  int64_t batch;
  const char* calibration_data;
  int64_t calibration_boards;
  const char* out; /* a results file that is appended to, or NULL */
  driftless_on_progress on_progress;
  void* user;
} driftless_ladder_options;

/* The records of `driftless ladder --json`, a JSON list. Free it. */
int driftless_ladder(const char* model, const char* data, const driftless_ladder_options* options,
                     char** json);
/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
