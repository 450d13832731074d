/* SPDX-License-Identifier: Apache-2.0
 * Solves a Sudoku board:  solve_sudoku_c MODEL BOARD      81 characters, digits and '.' */
#include <stdio.h>
#include <string.h>

#include <driftless/driftless_c.h>

enum { kCells = 81 };

static int show(void* user, size_t board, int64_t step, const uint8_t* tokens, float halt_logit) {
  (void)board;
  (void)tokens;
  fprintf((FILE*)user, "step %d, halt logit %+.2f\n", (int)step, halt_logit);
  return 0;
}

int main(int argc, char** argv) {
  uint8_t tokens[kCells];
  uint8_t answers[kCells];
  int64_t steps = 0;
  driftless_engine* engine = NULL;
  driftless_solve_options options = {0};
  int code = 0;
  if (argc != 3 || strlen(argv[2]) != kCells) {
    fprintf(stderr, "usage: solve_sudoku_c MODEL BOARD\n");
    return 2;
  }
  /* Token 1 is a blank cell, 2 to 10 are the digits. */
  for (int i = 0; i < kCells; ++i)
    tokens[i] = argv[2][i] == '.' ? 1 : (uint8_t)(argv[2][i] - '0' + 1);
  options.on_step = show;
  options.user = stdout;
  code = driftless_load(argv[1], 2, &engine);
  if (code == DRIFTLESS_OK && driftless_cells(engine) != kCells) code = DRIFTLESS_ERROR_BAD_FILE;
  if (code == DRIFTLESS_OK) code = driftless_solve(engine, tokens, 1, &options, answers, &steps);
  if (code != DRIFTLESS_OK) {
    fprintf(stderr, "solve_sudoku_c: %s\n", driftless_last_error());
  } else {
    for (int i = 0; i < kCells; ++i) putchar(answers[i] < 2 ? '.' : '0' + answers[i] - 1);
    printf(" in %d steps\n", (int)steps);
  }
  driftless_free(engine);
  return code;
}
