/* SPDX-License-Identifier: Apache-2.0 */
/* A Cortex-M from reset to main, text and exit by semihosting, and instructions by SysTick: with
 * qemu's -icount shift=0 an instruction takes one nanosecond of the clock that SysTick divides. A
 * loop of known length tells how many make a tick. */
#include "port.h"

#define SYSTICK ((volatile uint32_t*)0xe000e010)
#define CPACR (*(volatile uint32_t*)0xe000ed88)

extern uint32_t stack_top, bss_first, bss_last;
int main(void);
void reset(void);

static volatile uint32_t wraps;
static uint64_t instructions_of_2_16_ticks;

static void tick(void) { wraps++; }

static uint32_t semihost(uint32_t operation, const void* argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

static void leave(uint32_t code) {
  const uint32_t reason[2] = {0x20026, code};
  semihost(0x20, reason);
  for (;;) {
  }
}

static void fault(void) {
  port_text("fault\n");
  leave(99);
}

void port_text(const char* text) { semihost(4, text); }

static uint64_t ticks(void) {
  uint32_t before, now;
  do {
    before = wraps;
    now = SYSTICK[2];
  } while (before != wraps);
  return ((uint64_t)before << 24) + (0xffffff - now);
}

uint64_t port_instructions(void) { return ticks() * instructions_of_2_16_ticks >> 16; }

static void calibrate(void) {
  uint32_t count = 1000000;
  uint64_t before;
  SYSTICK[1] = 0xffffff;
  SYSTICK[2] = 0;
  SYSTICK[0] = 7;
  while (SYSTICK[2] == 0) {
  } /* until it has begun */
  before = ticks();
  __asm__ volatile("1: subs %0, #1\n bne 1b" : "+r"(count) : : "cc");
  instructions_of_2_16_ticks = ((uint64_t)2000000 << 16) / (ticks() - before);
}

void reset(void) {
  uint32_t* at;
  CPACR |= 0xf << 20;
  for (at = &bss_first; at < &bss_last; at++) *at = 0;
  calibrate();
  leave((uint32_t)main());
}

typedef void (*handler)(void);
__attribute__((section(".vectors"), used)) static const handler vectors[16] = {(handler)&stack_top,
                                                                               reset,
                                                                               fault,
                                                                               fault,
                                                                               fault,
                                                                               fault,
                                                                               fault,
                                                                               fault,
                                                                               fault,
                                                                               fault,
                                                                               fault,
                                                                               fault,
                                                                               fault,
                                                                               fault,
                                                                               fault,
                                                                               tick};
