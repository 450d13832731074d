/* SPDX-License-Identifier: Apache-2.0 */
/* The recursion around the blocks, the heads, and what a program calls. */
#include "parts.h"

typedef char reasoner_arena_is_as_planned[sizeof(reasoner) == REASONER_ARENA_BYTES ? 1 : -1];

static float value_at(const table* values, uint32_t at) {
  return values->half != 0 ? float_of((uint32_t)values->half[at] << 16) : values->whole[at];
}

/* The embedded input: sqrt(D) times prefix rows and tokens, or their mean with the positions. */
static float input_at(const reasoner* model, uint32_t position, uint32_t channel) {
  float value = 0.0f;
#if REASONER_PREFIX
  const uint32_t at = position * REASONER_WIDTH + channel;
  if (position < REASONER_PREFIX) {
    if (at < REASONER_PUZZLE_WIDTH)
      value = value_at(&puzzle_table, model->puzzle * REASONER_PUZZLE_WIDTH + at);
  } else
#endif
  {
    value =
        value_at(&token_table,
                 model->tokens[position - REASONER_PREFIX] * (uint32_t)REASONER_WIDTH + channel);
  }
#if REASONER_LEARNED_POSITIONS
  value += value_at(&position_table, position * REASONER_WIDTH + channel);
#endif
  return value * REASONER_INPUT_SCALE;
}

static void inject_input(reasoner* model) {
  uint32_t position, i;
  for (position = 0; position < REASONER_POSITIONS; position++)
    for (i = 0; i < REASONER_WIDTH; i++) {
      const uint32_t at = position * REASONER_WIDTH + i;
      model->z_l[at] += model->z_h[at] + input_at(model, position, i);
    }
}

static int run_network(reasoner* model, uint32_t network, float* h) {
  uint32_t i;
  for (i = network_first[network]; i < network_first[network + 1]; i++) {
    const swiglu_scratch channels = CHANNEL_SCRATCH(model);
#if REASONER_HAS_ATTENTION
    const attention_scratch positions = ATTENTION_SCRATCH(model);
    if (!mix_positions(&blocks[i].positions, &positions, h)) return 0;
#else
    const swiglu_scratch positions = TOKEN_SCRATCH(model);
    if (!mix_tokens(&blocks[i].positions, &positions, h)) return 0;
#endif
    if (!mix_channels(&blocks[i].channels, &channels, h)) return 0;
  }
  return 1;
}

#if REASONER_QUANTIZED_LOGITS || REASONER_QUANTIZED_HALT
/* One row times a quantized head. */
static int run_head(reasoner* model, const linear* head, const float* x, float* out) {
  const rows row = HEAD_ROW(model);
  const target to = {out, 0, 1, 0};
  if (!quantize_row(&head->input, x, 1, REASONER_WIDTH, &row, 0)) return 0;
  multiply(head, 0, head->weight.outputs, &row, 1, model->scratch.head.work, &to);
  return 1;
}
#endif

static int run_halt(reasoner* model) {
  uint32_t output;
#if REASONER_QUANTIZED_HALT
  if (!run_head(model, &halt_head, model->z_h, model->halt)) return 0;
  for (output = 0; output < 2; output++)
    model->halt[output] = (float)((double)halt_bias[output] + (double)model->halt[output]);
#else
  uint32_t i;
  for (output = 0; output < 2; output++) {
    double sum = (double)halt_bias[output];
    for (i = 0; i < REASONER_WIDTH; i++)
      sum += (double)value_at(&halt_table, output * REASONER_WIDTH + i) * (double)model->z_h[i];
    model->halt[output] = (float)sum;
  }
#endif
  return 1;
}

static int run_logits(reasoner* model, const float* h, float* logits) {
#if REASONER_QUANTIZED_LOGITS
  return run_head(model, &logits_head, h, logits);
#else
  uint32_t token, i;
  (void)model;
  for (token = 0; token < REASONER_VOCABULARY; token++) {
    float sum = 0.0f;
    for (i = 0; i < REASONER_WIDTH; i++)
      sum = fused(h[i], value_at(&logits_table, token * REASONER_WIDTH + i), sum);
    logits[token] = sum;
  }
  return 1;
#endif
}

static int run_step(reasoner* model) {
  uint32_t round, cycle, i;
  for (round = 0; round < REASONER_H_CYCLES; round++) {
    for (cycle = 0; cycle < REASONER_L_CYCLES; cycle++) {
      inject_input(model);
      if (!run_network(model, REASONER_L_NETWORK(cycle), model->z_l)) return 0;
    }
    for (i = 0; i < REASONER_POSITIONS * REASONER_WIDTH; i++) model->z_h[i] += model->z_l[i];
    if (!run_network(model, REASONER_H_NETWORK, model->z_h)) return 0;
  }
  return run_halt(model);
}

int reasoner_init(reasoner* model) {
  volatile float near_one = 1.0f + 0x1p-12f, minus_one = -1.0f;
  const float one = near_one, less = minus_one;
  memset(model, 0, sizeof(*model));
  /* Fused, the last term of (1 + e)^2 - 1 = 2 e + e^2 stays. */
  return one * one + less == 0x1p-11f ? REASONER_OK : REASONER_BAD_BUILD;
}

int reasoner_set_board(reasoner* model, const uint8_t* tokens, uint32_t puzzle) {
  uint32_t i, position;
  model->phase = 0;
  for (i = 0; i < REASONER_CELLS; i++)
    if (tokens[i] >= REASONER_VOCABULARY) return REASONER_BAD_TOKEN;
  if (puzzle >= REASONER_PUZZLES) return REASONER_BAD_PUZZLE;
  memcpy(model->tokens, tokens, REASONER_CELLS);
  model->puzzle = puzzle;
  for (position = 0; position < REASONER_POSITIONS; position++)
    for (i = 0; i < REASONER_WIDTH; i++) {
      model->z_h[position * REASONER_WIDTH + i] = value_at(&h_start, i);
      model->z_l[position * REASONER_WIDTH + i] = value_at(&l_start, i);
    }
  model->halt[0] = model->halt[1] = 0.0f;
  model->phase = 1;
  return REASONER_OK;
}

int reasoner_step(reasoner* model, float* halt) {
  if (model->phase == 0) return REASONER_NO_BOARD;
  model->phase = 0;
  if (!run_step(model)) return REASONER_NOT_FINITE;
  if (halt != 0) *halt = model->halt[0];
  model->phase = 2;
  return REASONER_OK;
}

int reasoner_logits(reasoner* model, uint32_t cell, float* logits) {
  if (model->phase != 2) return REASONER_NO_BOARD;
  if (cell >= REASONER_CELLS) return REASONER_BAD_CELL;
  return run_logits(model, model->z_h + (REASONER_PREFIX + cell) * REASONER_WIDTH, logits)
             ? REASONER_OK
             : REASONER_NOT_FINITE;
}

int reasoner_answer(reasoner* model, uint8_t* tokens) {
  float logits[REASONER_VOCABULARY];
  uint32_t cell, token;
  for (cell = 0; cell < REASONER_CELLS; cell++) {
    const int code = reasoner_logits(model, cell, logits);
    uint32_t best = 0;
    if (code != REASONER_OK) return code;
    for (token = 1; token < REASONER_VOCABULARY; token++)
      if (logits[best] < logits[token]) best = token;
    tokens[cell] = (uint8_t)best;
  }
  return REASONER_OK;
}

static uint64_t hash_floats(uint64_t hash, const float* values, uint32_t count) {
  uint32_t i;
  int byte;
  for (i = 0; i < count; i++) {
    const uint32_t bits = bits_of(values[i]);
    for (byte = 0; byte < 32; byte += 8) hash = (hash ^ (bits >> byte & 0xff)) * 0x100000001b3u;
  }
  return hash;
}

uint64_t reasoner_hash(const reasoner* model) {
  uint64_t hash = ((uint64_t)0xcbf29ce4u << 32) | 0x84222325u;
  hash = hash_floats(hash, model->z_h, REASONER_POSITIONS * REASONER_WIDTH);
  hash = hash_floats(hash, model->z_l, REASONER_POSITIONS * REASONER_WIDTH);
  return hash_floats(hash, model->halt, 2);
}

int reasoner_self_test(reasoner* model) {
  uint8_t tokens[REASONER_CELLS];
  uint32_t i;
  int code = reasoner_init(model);
  if (code != REASONER_OK) return code;
  for (i = 0; i < REASONER_CELLS; i++) tokens[i] = (uint8_t)((7 * i + 3) % REASONER_VOCABULARY);
  code = reasoner_set_board(model, tokens, 0);
  if (code == REASONER_OK) code = reasoner_step(model, 0);
  if (code != REASONER_OK) return code;
  return reasoner_hash(model) == REASONER_SELF_TEST_HASH ? REASONER_OK : REASONER_MISMATCH;
}
