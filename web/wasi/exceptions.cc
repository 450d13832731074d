// SPDX-License-Identifier: Apache-2.0
// C++ exceptions over WebAssembly's own: Debian's libc++abi is built without. clang compiles
// `throw` to a call of
// __cxa_throw and each `catch` to a landing pad, which asks _Unwind_CallPersonality for the handler
// that fits; the Itanium C++ ABI says the rest. Where that reads a table of the compiler's, the
// layout is that of LLVM 16: addresses absolute, call sites numbered.
//
// One thread, and an exception that nobody catches leaves to JavaScript.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <new>
#include <typeinfo>

namespace __cxxabiv1 {

/// The part of libc++abi's class that decides what a handler catches; it lives there.
class __shim_type_info : public std::type_info {
 public:
  ~__shim_type_info() override;
  virtual void noop1() const;
  virtual void noop2() const;
  virtual bool can_catch(const __shim_type_info* thrown, void*& adjusted) const = 0;
};

}  // namespace __cxxabiv1

namespace {

using TypeInfo = __cxxabiv1::__shim_type_info;

/// Before each thrown object. An exception that std::rethrow_exception throws again has a header of
/// its own and shares the object of `primary`.
struct alignas(16) Thrown {
  int64_t references;  ///< the throw itself and every exception_ptr
  int64_t handlers;    ///< that run; negative while thrown again from one
  Thrown* primary;     ///< null: the object follows
  Thrown* next;        ///< caught before
  const std::type_info* type;
  void* (*destroy)(void*);  ///< destructors return their object on this architecture
  void* adjusted;           ///< the object as the handler's type
};

Thrown* g_caught = nullptr;
unsigned g_uncaught = 0;

void* object_of(Thrown* thrown) { return (thrown->primary ? thrown->primary : thrown) + 1; }
Thrown* header_of(void* object) { return static_cast<Thrown*>(object) - 1; }

[[noreturn]] void raise(Thrown* thrown) {
  ++g_uncaught;
  __builtin_wasm_throw(0, thrown);
}

void release(Thrown* thrown) {
  if (--thrown->references > 0) return;
  if (thrown->primary != nullptr)
    release(thrown->primary);
  else if (thrown->destroy != nullptr)
    thrown->destroy(thrown + 1);
  std::free(thrown);
}

Thrown* make_header(size_t object_bytes) {
  void* const memory = std::calloc(1, sizeof(Thrown) + object_bytes);
  if (memory == nullptr) std::terminate();
  return static_cast<Thrown*>(memory);
}

uint32_t read_unsigned(const uint8_t*& at) {
  uint32_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint8_t byte = *at++;
    value |= static_cast<uint32_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
}

int32_t read_signed(const uint8_t*& at) {
  uint32_t value = 0;
  for (unsigned shift = 0;;) {
    const uint8_t byte = *at++;
    value |= static_cast<uint32_t>(byte & 0x7f) << shift;
    shift += 7;
    if ((byte & 0x80) != 0) continue;
    if (shift < 32 && (byte & 0x40) != 0) value |= ~uint32_t{0} << shift;
    return static_cast<int32_t>(value);
  }
}

struct LandingPad {
  uintptr_t index;
  const uint8_t* table;
  uintptr_t selector;  ///< 1 and up: which handler; 0: none of this function's
};

/// The action of call site `index`, or null.
const uint8_t* action_of(const uint8_t*& table, uintptr_t index, const uint8_t*& types) {
  constexpr uint8_t kOmitted = 0xff;
  ++table;  // where landing pads begin: at the function
  types = nullptr;
  if (*table++ != kOmitted) {
    const uint32_t length = read_unsigned(table);
    types = table + length;
  }
  ++table;  // how call sites are written: as read_unsigned reads
  const uint32_t sites_bytes = read_unsigned(table);
  const uint8_t* const actions = table + sites_bytes;
  while (table < actions) {
    (void)read_unsigned(table);  // the landing pad
    const uint32_t action = read_unsigned(table);
    if (index-- == 0) return action == 0 ? nullptr : actions + action - 1;
  }
  return nullptr;
}

}  // namespace

extern "C" {

LandingPad __wasm_lpad_context;

int _Unwind_CallPersonality(void* exception) {
  auto* const thrown = static_cast<Thrown*>(exception);
  __wasm_lpad_context.selector = 0;
  const uint8_t* table = __wasm_lpad_context.table;
  const uint8_t* types = nullptr;
  const uint8_t* action = action_of(table, __wasm_lpad_context.index, types);
  while (action != nullptr) {
    const int32_t filter = read_signed(action);
    if (filter > 0) {
      const auto* const type = reinterpret_cast<const TypeInfo* const*>(types)[-filter];
      void* adjusted = object_of(thrown);
      if (type == nullptr ||
          type->can_catch(static_cast<const TypeInfo*>(thrown->type), adjusted)) {
        thrown->adjusted = adjusted;
        __wasm_lpad_context.selector = static_cast<uintptr_t>(filter);
        return 0;
      }
    }
    const uint8_t* const here = action;
    const int32_t next = read_signed(action);
    action = next == 0 ? nullptr : here + next;
  }
  return 0;
}

void* __cxa_allocate_exception(size_t bytes) { return make_header(bytes) + 1; }

void __cxa_free_exception(void* object) { std::free(header_of(object)); }

[[noreturn]] void __cxa_throw(void* object, std::type_info* type, void* (*destroy)(void*)) {
  Thrown* const thrown = header_of(object);
  thrown->references = 1;
  thrown->type = type;
  thrown->destroy = destroy;
  raise(thrown);
}

void* __cxa_get_exception_ptr(void* exception) { return static_cast<Thrown*>(exception)->adjusted; }

void* __cxa_begin_catch(void* exception) {
  auto* const thrown = static_cast<Thrown*>(exception);
  thrown->handlers = (thrown->handlers < 0 ? -thrown->handlers : thrown->handlers) + 1;
  if (g_caught != thrown) {
    thrown->next = g_caught;
    g_caught = thrown;
  }
  --g_uncaught;
  return thrown->adjusted;
}

void __cxa_end_catch() {
  Thrown* const thrown = g_caught;
  if (thrown->handlers < 0) {
    if (++thrown->handlers == 0) g_caught = thrown->next;
  } else if (--thrown->handlers == 0) {
    g_caught = thrown->next;
    release(thrown);
  }
}

[[noreturn]] void __cxa_rethrow() {
  if (g_caught == nullptr) std::terminate();
  g_caught->handlers = -g_caught->handlers;
  raise(g_caught);
}

void* __cxa_current_primary_exception() {
  if (g_caught == nullptr) return nullptr;
  Thrown* const owner = g_caught->primary ? g_caught->primary : g_caught;
  ++owner->references;
  return owner + 1;
}

void __cxa_increment_exception_refcount(void* object) {
  if (object != nullptr) ++header_of(object)->references;
}

void __cxa_decrement_exception_refcount(void* object) {
  if (object != nullptr) release(header_of(object));
}

void __cxa_rethrow_primary_exception(void* object) {
  if (object == nullptr) return;
  Thrown* const again = make_header(0);
  again->references = 1;
  again->primary = header_of(object);
  again->type = again->primary->type;
  ++again->primary->references;
  raise(again);
}

unsigned __cxa_uncaught_exceptions() { return g_uncaught; }
bool __cxa_uncaught_exception() { return g_uncaught > 0; }

}  // extern "C"

// libc++abi's would end the program.
void* operator new(size_t bytes) {
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  void* memory = nullptr;
  const auto at = static_cast<size_t>(alignment);
  if (::posix_memalign(&memory, at < sizeof(void*) ? sizeof(void*) : at, bytes) != 0)
    throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
