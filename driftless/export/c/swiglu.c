/* SPDX-License-Identifier: Apache-2.0 */
/* h <- norm(h + down(silu(gate(h)) * up(h))), a tile of rows at a time and in place. Rows are
 * positions for channel mixers and channels for token mixers. */
#include "parts.h"

typedef struct {
  linear gate_up; /* the gates' rows, then the ups' */
  linear down;
} swiglu;

typedef struct {
  rows input, hidden;
  float *gate, *up; /* [tile][32] */
  float* floats;    /* [tile][inner], where hidden rows have one scale */
  int32_t* work;
} swiglu_scratch;

/* Rows of a state: value i of row r is h[r * row_step + i * step]. */
typedef struct {
  float* h;
  uint32_t row_step, step, count;
} tile;

static int fill_hidden(const swiglu* layers, const swiglu_scratch* scratch, uint32_t count,
                       uint32_t block) {
  const uint32_t inner = layers->down.weight.inputs;
  const activations* const form = &layers->down.input;
  const target gate = {scratch->gate, 32, 1, 0}, up = {scratch->up, 32, 1, 0};
  uint32_t row, i;
  multiply(&layers->gate_up, block * 32, 32, &scratch->input, count, scratch->work, &gate);
  multiply(&layers->gate_up, inner + block * 32, 32, &scratch->input, count, scratch->work, &up);
  for (row = 0; row < count; row++) {
    float* const out =
        form->is_block ? scratch->gate + row * 32 : scratch->floats + row * inner + block * 32;
    const uint32_t at = row * scratch->hidden.blocks + block;
    for (i = 0; i < 32; i++)
      out[i] = silu_times(scratch->gate[row * 32 + i], scratch->up[row * 32 + i]);
    if (form->is_block && !encode_block(form, out, 1, 32, scratch->hidden.codes + at * 32,
                                        scratch->hidden.shifts + at))
      return 0;
  }
  return 1;
}

/* h + down(...), not yet normed. Returns 0 for a value that is not finite. */
static int add_swiglu(const swiglu* layers, const swiglu_scratch* scratch, const tile* at) {
  const uint32_t inner = layers->down.weight.inputs;
  const uint32_t length = layers->gate_up.weight.inputs;
  const activations* const form = &layers->down.input;
  const target sum = {at->h, at->row_step, at->step, 1};
  uint32_t row, block;
  for (row = 0; row < at->count; row++)
    if (!quantize_row(&layers->gate_up.input, at->h + row * at->row_step, at->step, length,
                      &scratch->input, row))
      return 0;
  for (block = 0; block < inner / 32; block++)
    if (!fill_hidden(layers, scratch, at->count, block)) return 0;
  for (row = 0; row < at->count; row++) {
    if (form->is_block)
      finish_row(form, &scratch->hidden, row);
    else if (!scale_row(form, scratch->floats + row * inner, 1, inner, &scratch->hidden, row))
      return 0;
  }
  multiply(&layers->down, 0, length, &scratch->hidden, at->count, scratch->work, &sum);
  return 1;
}

/* Sums have 16 lanes, added in pairs. */
static float lane_sum(float* lanes) {
  int width, i;
  for (width = 8; width > 0; width /= 2)
    for (i = 0; i < width; i++) lanes[i] += lanes[i + width];
  return lanes[0];
}

static void norm_row(float* h, uint32_t count) {
  float lanes[16] = {0};
  float scale;
  uint32_t i;
  for (i = 0; i < count; i++) lanes[i % 16] += h[i] * h[i];
  scale = 1.0f / root(lane_sum(lanes) / (float)count + REASONER_EPSILON);
  for (i = 0; i < count; i++) h[i] *= scale;
}

static int mix_channels(const swiglu* layers, const swiglu_scratch* scratch, float* h) {
  uint32_t first, row;
  for (first = 0; first < REASONER_POSITIONS; first += REASONER_POSITION_TILE) {
    tile at = {h + first * REASONER_WIDTH, REASONER_WIDTH, 1, REASONER_POSITIONS - first};
    if (at.count > REASONER_POSITION_TILE) at.count = REASONER_POSITION_TILE;
    if (!add_swiglu(layers, scratch, &at)) return 0;
    for (row = 0; row < at.count; row++) norm_row(at.h + row * REASONER_WIDTH, REASONER_WIDTH);
  }
  return 1;
}

#if REASONER_HAS_ATTENTION == 0
static void norm_column(float* h) {
  float squares = 0.0f, scale;
  uint32_t row;
  for (row = 0; row < REASONER_POSITIONS; row++)
    squares += h[row * REASONER_WIDTH] * h[row * REASONER_WIDTH];
  scale = 1.0f / root(squares / (float)REASONER_POSITIONS + REASONER_EPSILON);
  for (row = 0; row < REASONER_POSITIONS; row++) h[row * REASONER_WIDTH] *= scale;
}

static int mix_tokens(const swiglu* layers, const swiglu_scratch* scratch, float* h) {
  uint32_t first, i;
  for (first = 0; first < REASONER_WIDTH; first += REASONER_CHANNEL_TILE) {
    tile at = {h + first, 1, REASONER_WIDTH, REASONER_WIDTH - first};
    if (at.count > REASONER_CHANNEL_TILE) at.count = REASONER_CHANNEL_TILE;
    if (!add_swiglu(layers, scratch, &at)) return 0;
    for (i = 0; i < at.count; i++) norm_column(at.h + i);
  }
  return 1;
}
#endif
