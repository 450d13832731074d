// SPDX-License-Identifier: Apache-2.0
// A library to preload into a program: the n-th call of one kind fails, once. DRIFTLESS_FAIL is
// KIND:N, such as write:3; the file that DRIFTLESS_FAILED names appears when that call has come.
// Counts from where main begins. Two kinds are states of the machine:
//   full  the disk is full from the n-th write into a file on
//   cut   the power fails before the n-th change of a file (a write, sync, rename, or new name):
//         bytes that were not synced are gone, and the process with them
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::atomic<bool> is_armed{false};
std::atomic<long> calls_left{-1};
const char* wanted_kind = "";
size_t kind_length = 0;

/// Whether this call is the one that fails.
bool fails(const char* kind) {
  if (!is_armed || std::strlen(kind) != kind_length ||
      std::strncmp(kind, wanted_kind, kind_length) != 0)
    return false;
  if (--calls_left != 0) return false;
  const char* const mark = std::getenv("DRIFTLESS_FAILED");
  if (mark != nullptr)
    ::syscall(SYS_close, ::syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_WRONLY, 0600));
  return true;
}

bool is_wanted(const char* kind) {
  return is_armed && std::strlen(kind) == kind_length &&
         std::strncmp(kind, wanted_kind, kind_length) == 0;
}

/// Whether libcpuinfo calls, which torch asks about the processor: it ends the process where it
/// cannot read that.
bool is_cpuinfo(void* caller) {
  Dl_info place{};
  return is_armed && ::dladdr(caller, &place) != 0 && place.dli_fname != nullptr &&
         std::strstr(place.dli_fname, "libcpuinfo") != nullptr;
}

/// What a shell has opened for the program does not count.
bool is_file(int fd) {
  struct stat status {};
  return fd > STDERR_FILENO && ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

/// A file with bytes that were not synced, by a descriptor that outlives the program's own.
struct Dirty {
  int fd = -1;  // the program's, -1 once that is clean
  int copy = -1;
  off_t synced = 0;
};
std::array<Dirty, 64> dirty_files;  // as many as a small command ever opens

void note_write(int fd) {
  for (const Dirty& file : dirty_files)
    if (file.fd == fd) return;
  for (Dirty& file : dirty_files) {
    if (file.copy >= 0) continue;
    struct stat status {};
    ::fstat(fd, &status);
    file = {fd, ::fcntl(fd, F_DUPFD_CLOEXEC, 500), status.st_size};
    return;
  }
  std::abort();
}

void note_sync(int fd) {
  for (Dirty& file : dirty_files) {
    if (file.fd != fd) continue;
    ::syscall(SYS_close, file.copy);
    file = {};
  }
}

/// The program has closed the file, whose bytes are as little safe as before.
void note_close(int fd) {
  for (Dirty& file : dirty_files)
    if (file.fd == fd) file.fd = -2;
}

/// Before every change of a file.
void maybe_cut_power() {
  if (!is_wanted("cut") || !fails("cut")) return;
  for (const Dirty& file : dirty_files)
    if (file.copy >= 0) static_cast<void>(!::ftruncate(file.copy, file.synced));
  ::raise(SIGKILL);
}

std::atomic<bool> is_full{false};

int fail_with(int reason) {
  errno = reason;
  return -1;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

int armed_main(int argc, char** argv, char** environment) {
  const char* const setting = std::getenv("DRIFTLESS_FAIL");
  const char* const colon = setting == nullptr ? nullptr : std::strchr(setting, ':');
  if (colon != nullptr) {
    wanted_kind = setting;
    kind_length = static_cast<size_t>(colon - setting);
    calls_left = std::atol(colon + 1);
    is_armed = true;
  }
  const int code = real_main(argc, argv, environment);
  is_armed = false;
  return code;
}

void* allocate(size_t bytes, size_t alignment) {
  if (fails("new")) throw std::bad_alloc();
  void* const memory =
      alignment == 0
          ? std::malloc(bytes > 0 ? bytes : 1)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return allocate(bytes, 0); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<size_t>(alignment));
}
// Those of arrays too: a leak sanitizer that is preloaded behind this has its own.
void* operator new[](size_t bytes) { return allocate(bytes, 0); }
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<size_t>(alignment));
}
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

extern "C" {

int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end) {
  real_main = main;
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  return next<Start>("__libc_start_main")(armed_main, argc, argv, init, fini, loader_fini,
                                          stack_end);
}

int open(const char* path, int flags, ...) {
  if (!is_cpuinfo(__builtin_return_address(0)) && fails("open")) return fail_with(EMFILE);
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

ssize_t read(int fd, void* bytes, size_t count) {
  if (!is_cpuinfo(__builtin_return_address(0)) && fails("read")) return fail_with(EIO);
  return ::syscall(SYS_read, fd, bytes, count);
}

ssize_t write(int fd, const void* bytes, size_t count) {
  if (fails("write")) return fail_with(ENOSPC);
  if (is_armed && is_file(fd)) {
    if (fails("full")) is_full = true;
    if (is_full) return fail_with(ENOSPC);
    maybe_cut_power();
    if (is_wanted("cut")) note_write(fd);
  }
  return ::syscall(SYS_write, fd, bytes, count);
}

int close(int fd) {
  if (is_wanted("cut")) note_close(fd);
  return static_cast<int>(::syscall(SYS_close, fd));
}

int fsync(int fd) {
  if (fails("fsync")) return fail_with(EIO);
  maybe_cut_power();
  if (is_wanted("cut")) note_sync(fd);
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

int rename(const char* from, const char* to) noexcept {
  if (fails("rename")) return fail_with(EACCES);
  maybe_cut_power();
  return next<int (*)(const char*, const char*)>("rename")(from, to);
}

int mkostemp(char* name, int flags) {
  if (fails("mkostemp")) return fail_with(EACCES);
  maybe_cut_power();
  return next<int (*)(char*, int)>("mkostemp")(name, flags);
}

int socket(int domain, int type, int protocol) noexcept {
  if (fails("socket")) return fail_with(EACCES);
  return static_cast<int>(::syscall(SYS_socket, domain, type, protocol));
}

pid_t fork() noexcept {
  if (fails("start")) return fail_with(EAGAIN);
  return next<pid_t (*)()>("fork")();
}

int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  if (fails("start")) return fail_with(EACCES);
  return static_cast<int>(::syscall(SYS_execve, path, arguments, environment));
}

int system(const char* command) {
  if (fails("start")) return fail_with(EAGAIN);
  return next<int (*)(const char*)>("system")(command);
}

FILE* popen(const char* command, const char* mode) {
  if (fails("start")) {
    errno = EAGAIN;
    return nullptr;
  }
  return next<FILE* (*)(const char*, const char*)>("popen")(command, mode);
}

int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments,
                char* const* environment) {
  if (fails("start")) return EAGAIN;
  return next<decltype(&::posix_spawn)>("posix_spawn")(child, path, actions, attributes, arguments,
                                                       environment);
}

int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* arguments,
                 char* const* environment) {
  if (fails("start")) return EAGAIN;
  return next<decltype(&::posix_spawnp)>("posix_spawnp")(child, file, actions, attributes,
                                                         arguments, environment);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) noexcept {
  if (fails("thread")) return EAGAIN;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  return next<Create>("pthread_create")(thread, attributes, body, argument);
}

}  // extern "C"
