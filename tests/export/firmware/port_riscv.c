/* SPDX-License-Identifier: Apache-2.0 */
/* A RISC-V hart from reset to main, text and exit by semihosting, instructions by the counter of
 * retired ones, which counts them under qemu's -icount. */
#include "port.h"

extern uint32_t bss_first, bss_last;
int main(void);
void begin(void);

__attribute__((naked, section(".vectors"))) void start(void) {
  __asm__ volatile(
      ".option push\n .option norelax\n la gp, __global_pointer$\n .option pop\n"
      "la sp, stack_top\n j begin");
}

static uint32_t semihost(uint32_t operation, const void* argument) {
  register uint32_t a0 __asm__("a0") = operation;
  register const void* a1 __asm__("a1") = argument;
  __asm__ volatile(
      ".balign 16\n .option push\n .option norvc\n slli x0, x0, 0x1f\n ebreak\n"
      "srai x0, x0, 7\n .option pop"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  return a0;
}

void port_text(const char* text) { semihost(4, text); }

/* Of a register whose name the assembler knows with an extension that every hart here has. */
#define READ(name, out)                                                                    \
  __asm__ volatile(".option push\n .option arch, +zicsr\n csrr %0, " name "\n .option pop" \
                   : "=r"(out))

uint64_t port_instructions(void) {
  uint32_t high, low, again;
  do {
    READ("minstreth", high);
    READ("minstret", low);
    READ("minstreth", again);
  } while (high != again);
  return (uint64_t)high << 32 | low;
}

static void leave(uint32_t code) {
  const uint32_t reason[2] = {0x20026, code};
  semihost(0x20, reason);
  for (;;) {
  }
}

__attribute__((aligned(4))) static void fault(void) {
  port_text("fault\n");
  leave(99);
}

void begin(void) {
  uint32_t* at;
  __asm__ volatile(
      ".option push\n .option arch, +zicsr\n csrw mtvec, %0\n csrs mstatus, %1\n .option pop"
      :
      : "r"(fault), "r"(0x2200)); /* floats and vectors on, where there are any */
  for (at = &bss_first; at < &bss_last; at++) *at = 0;
  leave((uint32_t)main());
}
