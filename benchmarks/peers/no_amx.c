/* SPDX-License-Identifier: Apache-2.0
 * Preloaded into a program: Linux gives it no AMX, as on a processor without. Programs must ask for the tiles' room
 * through syscall(SYS_arch_prctl, ...), which says no here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

enum { kRequestPermission = 0x1023, kTileData = 18 };

long syscall(long number, ...) {
  static long (*next)(long, ...);
  long a[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_arch_prctl && a[0] == kRequestPermission && a[1] == kTileData) {
    errno = EPERM;
    return -1;
  }
  if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
