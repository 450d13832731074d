// SPDX-License-Identifier: Apache-2.0
// Vectors that begin on a cache line, so that no 64-byte load of a kernel crosses one.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace driftless::integer {

inline constexpr size_t kCacheLine = 64;

template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  explicit AlignedAllocator(const AlignedAllocator<U>&) noexcept {}

  T* allocate(size_t count) {
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{kCacheLine}));
  }
  void deallocate(T* memory, size_t) noexcept {
    ::operator delete (memory, std::align_val_t{kCacheLine});
  }
  bool operator==(const AlignedAllocator&) const = default;
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace driftless::integer
