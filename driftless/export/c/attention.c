/* SPDX-License-Identifier: Apache-2.0 */
/* h <- norm(h + output(attention(h))), head by head: keys and values of one head exist at a time,
 * and queries of one tile of positions. */
#include "parts.h"

#if REASONER_HAS_ATTENTION
typedef struct {
  linear qkv; /* all query heads, then all key heads, then all value heads */
  linear output;
} attention;

typedef struct {
  rows input;
  int32_t* work;
  float* attended;      /* [positions][width] */
  float *keys, *values; /* [positions][head width]; of int8 only those of one tile */
  float* queries;       /* [tile][head width] */
  float* scores;        /* [positions] */
#if REASONER_INT8_ATTENTION
  int8_t* key_codes;   /* [positions][head width] */
  int8_t* value_codes; /* [head width][positions] */
  float *key_scales, *value_scales;
  uint8_t* shares; /* [positions] */
#endif
} attention_scratch;

#if REASONER_ROPE_SEGMENTS
static void rotate(float* values, uint32_t position) {
  const uint32_t half = REASONER_ROPE_HALF;
  const float* const turns = reasoner_rope + 2 * position * REASONER_ROPE_SEGMENTS * half;
  uint32_t segment, i;
  for (segment = 0; segment < REASONER_ROPE_SEGMENTS; segment++, values += 2 * half)
    for (i = 0; i < half; i++) {
      const float c = turns[2 * (segment * half + i)];
      const float s = turns[2 * (segment * half + i) + 1];
      const float first = values[i];
      const float second = values[half + i];
      values[i] = first * c - second * s;
      values[half + i] = second * c + first * s;
    }
}
#else
static void rotate(float* values, uint32_t position) {
  (void)values;
  (void)position;
}
#endif

static float largest_of(const float* values, uint32_t count) {
  float largest = values[0];
  uint32_t i;
  for (i = 1; i < count; i++)
    if (values[i] > largest) largest = values[i];
  return largest;
}

#if REASONER_INT8_ATTENTION
static const activations int8_row = {-127.0f, 127.0f, 0, 0, 0, 0, 8, 0, 0, 1};

/* Values `step` apart to codes under one scale. Returns it, or 0 where a value is not finite. */
static float encode_codes(const float* x, uint32_t step, uint32_t count, int8_t* codes) {
  const uint32_t largest = largest_bits(x, step, count);
  float scale = float_of(largest) / 127.0f;
  uint32_t i;
  if (largest >= INFINITY_BITS) return 0.0f;
  if (scale < power_of_two(-126)) scale = power_of_two(-126);
  while ((bits_of(scale * 127.0f) & 0x7fffffff) >= INFINITY_BITS)
    scale = float_of(bits_of(scale) - 1);
  for (i = 0; i < count; i++) codes[i] = nearest(&int8_row, x[i * step] / scale);
  return scale;
}

/* 255 * 2^t for t <= 0 as an integer; zero from 2^-16 down. */
static uint8_t share_code(float t) {
  const float round = 12582912.0f, round_code = 8388608.0f;
  const float limited = t > -16.0f ? t : -16.0f;
  const float shifted = limited + round;
  const float r = limited - (shifted - round);
  float p = 0.0550089512f;
  p = fused(p, r, 0.242211010f);
  p = fused(p, r, 0.693282930f);
  p = fused(p, r, 1.0f);
  p = float_of(bits_of(p) + (bits_of(shifted) << 23));
  return (uint8_t)(bits_of(fused(p, 255.0f, round_code)) - bits_of(round_code));
}

static int attend(const attention_scratch* s, const float* query, float* out) {
  const uint32_t width = REASONER_HEAD_WIDTH, positions = REASONER_POSITIONS;
  int8_t codes[REASONER_HEAD_WIDTH];
  const float scale = encode_codes(query, 1, width, codes);
  const float share_scale = 1.44269504f * REASONER_SCORE_SCALE;
  float largest, inverse;
  int32_t total = 0;
  uint32_t i, k;
  if (!(scale > 0.0f)) return 0;
  for (i = 0; i < positions; i++) {
    const int8_t* const key = s->key_codes + i * width;
    int32_t sum = 0;
    for (k = 0; k < width; k++) sum += codes[k] * key[k];
    s->scores[i] = (float)sum * (scale * s->key_scales[i]);
  }
  largest = largest_of(s->scores, positions) * share_scale;
  for (i = 0; i < positions; i++) {
    s->shares[i] = share_code(s->scores[i] * share_scale - largest);
    total += s->shares[i];
  }
  inverse = 1.0f / (float)total;
  for (i = 0; i < width; i++) {
    const int8_t* const channel = s->value_codes + i * positions;
    int32_t sum = 0;
    for (k = 0; k < positions; k++) sum += s->shares[k] * channel[k];
    out[i] = (float)sum * (inverse * s->value_scales[i]);
  }
  return 1;
}
#else
static int attend(const attention_scratch* s, const float* query, float* out) {
  const uint32_t width = REASONER_HEAD_WIDTH, positions = REASONER_POSITIONS;
  float lanes[16] = {0};
  float largest, inverse;
  uint32_t i, k;
  for (i = 0; i < positions; i++) {
    const float* const key = s->keys + i * width;
    float sum = 0.0f;
    for (k = 0; k < width; k++) sum = fused(query[k], key[k], sum);
    s->scores[i] = sum;
  }
  largest = largest_of(s->scores, positions) * REASONER_SCORE_SCALE;
  for (i = 0; i < positions; i++) {
    const float share = exp_of_minus_magnitude(s->scores[i] * REASONER_SCORE_SCALE - largest);
    s->scores[i] = share;
    lanes[i % 16] += share;
  }
  inverse = 1.0f / lane_sum(lanes);
  for (i = 0; i < positions; i++) s->scores[i] *= inverse;
  for (i = 0; i < width; i++) {
    float sum = 0.0f;
    for (k = 0; k < positions; k++) sum = fused(s->scores[k], s->values[k * width + i], sum);
    out[i] = sum;
  }
  return 1;
}
#endif

static uint32_t tile_count(uint32_t first) {
  const uint32_t left = REASONER_POSITIONS - first;
  return left < REASONER_POSITION_TILE ? left : REASONER_POSITION_TILE;
}

static int take_rows(const linear* layer, const attention_scratch* s, const float* h,
                     uint32_t count) {
  uint32_t row;
  for (row = 0; row < count; row++)
    if (!quantize_row(&layer->input, h + row * REASONER_WIDTH, 1, REASONER_WIDTH, &s->input, row))
      return 0;
  return 1;
}

/* Keys and values of a head, at all positions. */
static int take_head(const attention* layers, const attention_scratch* s, const float* h,
                     uint32_t head) {
  const uint32_t width = REASONER_HEAD_WIDTH;
  uint32_t first, row;
  for (first = 0; first < REASONER_POSITIONS; first += REASONER_POSITION_TILE) {
    const uint32_t count = tile_count(first);
    const uint32_t at = REASONER_INT8_ATTENTION ? 0 : first * width;
    const target keys = {s->keys + at, width, 1, 0};
    const target values = {s->values + first * width, width, 1, 0};
    if (!take_rows(&layers->qkv, s, h + first * REASONER_WIDTH, count)) return 0;
    multiply(&layers->qkv, REASONER_WIDTH + head * width, width, &s->input, count, s->work, &keys);
    multiply(&layers->qkv, 2 * REASONER_WIDTH + head * width, width, &s->input, count, s->work,
             &values);
    for (row = 0; row < count; row++) rotate(s->keys + at + row * width, first + row);
#if REASONER_INT8_ATTENTION
    for (row = 0; row < count; row++) {
      s->key_scales[first + row] =
          encode_codes(s->keys + row * width, 1, width, s->key_codes + (first + row) * width);
      if (!(s->key_scales[first + row] > 0.0f)) return 0;
    }
#endif
  }
#if REASONER_INT8_ATTENTION
  for (row = 0; row < width; row++) {
    s->value_scales[row] = encode_codes(s->values + row, width, REASONER_POSITIONS,
                                        s->value_codes + row * REASONER_POSITIONS);
    if (!(s->value_scales[row] > 0.0f)) return 0;
  }
#endif
  return 1;
}

static int attend_head(const attention* layers, const attention_scratch* s, const float* h,
                       uint32_t head) {
  const uint32_t width = REASONER_HEAD_WIDTH;
  const target queries = {s->queries, width, 1, 0};
  uint32_t first, row;
  if (!take_head(layers, s, h, head)) return 0;
  for (first = 0; first < REASONER_POSITIONS; first += REASONER_POSITION_TILE) {
    const uint32_t count = tile_count(first);
    if (!take_rows(&layers->qkv, s, h + first * REASONER_WIDTH, count)) return 0;
    multiply(&layers->qkv, head * width, width, &s->input, count, s->work, &queries);
    for (row = 0; row < count; row++) {
      rotate(s->queries + row * width, first + row);
      if (!attend(s, s->queries + row * width,
                  s->attended + (first + row) * REASONER_WIDTH + head * width))
        return 0;
    }
  }
  return 1;
}

static int mix_positions(const attention* layers, const attention_scratch* s, float* h) {
  uint32_t head, first, row;
  for (head = 0; head < REASONER_HEADS; head++)
    if (!attend_head(layers, s, h, head)) return 0;
  for (first = 0; first < REASONER_POSITIONS; first += REASONER_POSITION_TILE) {
    const uint32_t count = tile_count(first);
    const target sum = {h + first * REASONER_WIDTH, REASONER_WIDTH, 1, 1};
    if (!take_rows(&layers->output, s, s->attended + first * REASONER_WIDTH, count)) return 0;
    multiply(&layers->output, 0, REASONER_WIDTH, &s->input, count, s->work, &sum);
    for (row = 0; row < count; row++) norm_row(h + (first + row) * REASONER_WIDTH, REASONER_WIDTH);
  }
  return 1;
}
#endif
