/* SPDX-License-Identifier: Apache-2.0 */
/* Any calls in any order, with any boards and states, on the exported model "probe": error codes,
 * and nothing undefined. */
#include <stddef.h>
#include <string.h>

#include "probe.h"

static probe model;

/* The next bytes of the input, zeros after its end. */
static void take(const uint8_t** data, size_t* size, void* out, size_t count) {
  const size_t there = *size < count ? *size : count;
  memset(out, 0, count);
  memcpy(out, *data, there);
  *data += there;
  *size -= there;
}

static void require(int holds) {
  if (!holds) __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint8_t tokens[PROBE_CELLS];
  float logits[PROBE_VOCABULARY], halt;
  uint32_t number = 0;
  require(probe_init(&model) == PROBE_OK);
  while (size > 0) {
    uint8_t call;
    take(&data, &size, &call, 1);
    switch (call % 5) {
      case 0:
        take(&data, &size, tokens, sizeof(tokens));
        for (number = 0; call % 8 != 0 && number < PROBE_CELLS; number++)
          tokens[number] %= PROBE_VOCABULARY; /* mostly boards that can be stepped */
        number = 0;
        take(&data, &size, &number, call % 16 == 0 ? 4 : 0);
        require(probe_set_board(&model, tokens, number) <= PROBE_BAD_PUZZLE);
        break;
      case 1:
        require(probe_step(&model, &halt) <= PROBE_NOT_FINITE);
        break;
      case 2:
        require(probe_answer(&model, tokens) <= PROBE_NOT_FINITE);
        break;
      case 3:
        take(&data, &size, &number, 4);
        (void)probe_logits(&model, number % (2 * PROBE_CELLS), logits);
        break;
      default: /* any bits for a value of a state, infinities too */
        number = 0;
        take(&data, &size, &number, 1);
        take(&data, &size, &model.z_l[number % (PROBE_POSITIONS * PROBE_WIDTH)], 4);
        take(&data, &size, &model.z_h[number % (PROBE_POSITIONS * PROBE_WIDTH)], 4);
    }
  }
  return 0;
}
