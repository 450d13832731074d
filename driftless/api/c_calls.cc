// SPDX-License-Identifier: Apache-2.0
#include "driftless/api/c_calls.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "driftless/api/driftless.h"

namespace {

thread_local std::string last_error;

}  // namespace

namespace driftless::api {

int remember(const std::exception& error) noexcept {
  try {
    last_error = error.what();
  } catch (...) {
    last_error.clear();  // no memory for the message
  }
  return error_code(error);
}

void* copied(const void* bytes, size_t size) {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  if (size > 0) std::memcpy(memory, bytes, size);
  return memory;
}

Turn turn_of(const driftless_engine* engine, const char* what) {
  require_given(engine, what);
  return {engine->is_busy, what};
}

}  // namespace driftless::api

int driftless_api_version(void) { return DRIFTLESS_API_VERSION; }

const char* driftless_version(void) { return DRIFTLESS_VERSION; }

const char* driftless_last_error(void) { return last_error.c_str(); }

void driftless_free_memory(void* memory) { std::free(memory); }
