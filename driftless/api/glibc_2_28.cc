// SPDX-License-Identifier: Apache-2.0
// Lets the shared library run on glibc 2.28, whatever newer one it was linked against: functions
// that got a newer symbol version since then are defined here, by the older version or by the
// system call that is behind them. The linker takes these for everything inside the library, the
// C++ runtime included, and shows them to nobody else. scripts/wheel checks that none is missing.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
#define DRIFTLESS_FIRST_GLIBC "GLIBC_2.2.5"
#else
#define DRIFTLESS_FIRST_GLIBC "GLIBC_2.17"
#endif
// `old_NAME` is NAME as the first glibc of this architecture has it.
#define DRIFTLESS_OLD(name) __asm__(".symver old_" #name "," #name "@" DRIFTLESS_FIRST_GLIBC)

union pthread_attr_t;

extern "C" {

double old_exp(double x);
double old_log(double x);
double old_pow(double x, double y);
int old_pthread_create(unsigned long* thread, const pthread_attr_t* attributes,
                       void* (*start)(void*), void* argument);
int old_pthread_join(unsigned long thread, void** result);
int old_pthread_key_create(unsigned int* key, void (*destroy)(void*));
int old_pthread_once(int* control, void (*start)());
DRIFTLESS_OLD(exp);
DRIFTLESS_OLD(log);
DRIFTLESS_OLD(pow);
DRIFTLESS_OLD(pthread_create);
DRIFTLESS_OLD(pthread_join);
DRIFTLESS_OLD(pthread_key_create);
DRIFTLESS_OLD(pthread_once);

// 2.29 took the handling of errno out; the values are the same.
double exp(double x) noexcept { return old_exp(x); }
double log(double x) noexcept { return old_log(x); }
double pow(double x, double y) noexcept { return old_pow(x, y); }

// 2.34 moved threads into libc.
int pthread_create(unsigned long* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  return old_pthread_create(thread, attributes, start, argument);
}
int pthread_join(unsigned long thread, void** result) { return old_pthread_join(thread, result); }
int pthread_once(int* control, void (*start)()) { return old_pthread_once(control, start); }
// NOLINTNEXTLINE(bugprone-reserved-identifier): the C++ runtime's name for it
int __pthread_key_create(unsigned int* key, void (*destroy)(void*)) noexcept {
  return old_pthread_key_create(key, destroy);
}

// 2.33 made these functions; before, they were macros. Labels, because a struct has the same name.
int stat_of(const char* path, void* out) noexcept __asm__("stat");
int lstat_of(const char* path, void* out) noexcept __asm__("lstat");
int fstat_of(int file, void* out) noexcept __asm__("fstat");
int stat_of(const char* path, void* out) noexcept {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, out, 0));
}
int lstat_of(const char* path, void* out) noexcept {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW));
}
int fstat_of(int file, void* out) noexcept {
  return static_cast<int>(syscall(SYS_newfstatat, file, "", out, AT_EMPTY_PATH));
}

// 2.32 tells the C++ runtime whether reference counts need atomics; here they always do.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the C library's name
char __libc_single_threaded = 0;
}
