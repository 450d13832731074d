/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the exported model "probe" on the boards of boards.h and prints its hashes after every step,
 * the tokens that it answers with, and what it says to wrong calls. The same on the host and on
 * every emulated board. */
#include <stdint.h>

#include "boards.h"
#include "port.h"
#include "probe.h"

static probe model;

static void put_hex(const char* label, uint64_t value) {
  char text[20];
  int i;
  for (i = 0; i < 16; i++) text[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
  text[16] = '\n';
  text[17] = 0;
  port_text(label);
  port_text(text);
}

static int run_board(const uint8_t* tokens, uint32_t puzzle) {
  uint8_t answer[PROBE_CELLS];
  float halt = 0.0f;
  uint64_t hash = 0, before;
  int step, i;
  if (probe_set_board(&model, tokens, puzzle) != PROBE_OK) return 1;
  for (step = 0; step < STEPS; step++) {
    before = port_instructions();
    if (probe_step(&model, &halt) != PROBE_OK) return 2;
    before = port_instructions() - before;
    put_hex("hash ", probe_hash(&model));
  }
  put_hex("instructions ", before);
  if (probe_answer(&model, answer) != PROBE_OK) return 3;
  for (i = 0; i < PROBE_CELLS; i++) hash = hash * 31 + answer[i];
  put_hex("answer ", hash);
  return 0;
}

static int run_self_test(void) {
  const uint64_t before = port_instructions();
  const int code = probe_self_test(&model);
  put_hex("instructions ", port_instructions() - before);
  if (code == PROBE_OK || code == PROBE_MISMATCH) put_hex("self-test ", probe_hash(&model));
  return code;
}

static int run_wrong_calls(void) {
  uint8_t tokens[PROBE_CELLS] = {0};
  float logits[PROBE_VOCABULARY];
  if (probe_init(&model) != PROBE_OK) return 10;
  if (probe_step(&model, 0) != PROBE_NO_BOARD || probe_answer(&model, tokens) != PROBE_NO_BOARD)
    return 11;
  tokens[PROBE_CELLS - 1] = PROBE_VOCABULARY;
  if (probe_set_board(&model, tokens, 0) != PROBE_BAD_TOKEN) return 12;
  tokens[PROBE_CELLS - 1] = 255;
  if (probe_set_board(&model, tokens, 0) != PROBE_BAD_TOKEN) return 13;
  if (probe_step(&model, 0) != PROBE_NO_BOARD) return 14;
  tokens[PROBE_CELLS - 1] = 0;
  if (probe_set_board(&model, tokens, PROBE_PUZZLES) != PROBE_BAD_PUZZLE) return 15;
  if (probe_set_board(&model, tokens, 0) != PROBE_OK) return 16;
  if (probe_logits(&model, 0, logits) != PROBE_NO_BOARD) return 17;
  model.z_l[0] = 3.0e38f;
  model.z_h[0] = 3.0e38f;
  if (probe_step(&model, 0) != PROBE_NOT_FINITE || probe_step(&model, 0) != PROBE_NO_BOARD)
    return 18;
  return 0;
}

int main(void) {
  int board, code = 0;
  if (WRONG_CALLS) code = run_wrong_calls();
  if (code == 0) code = run_self_test();
  if (code == 0 && WRONG_CALLS) {
    float logits[PROBE_VOCABULARY];
    if (probe_logits(&model, PROBE_CELLS, logits) != PROBE_BAD_CELL) code = 20;
  }
  for (board = 0; board < BOARDS && code == 0; board++)
    code = run_board(boards[board], puzzles[board]);
  put_hex("ended ", (uint64_t)code);
  return code;
}
