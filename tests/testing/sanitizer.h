// SPDX-License-Identifier: Apache-2.0
// Whether a sanitizer is built in, which needs address space and comes before preloaded libraries.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DRIFTLESS_TESTS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define DRIFTLESS_TESTS_SANITIZED 1
#endif
#endif

namespace driftless::testing {

#ifdef DRIFTLESS_TESTS_SANITIZED
inline constexpr bool kHasSanitizer = true;
#else
inline constexpr bool kHasSanitizer = false;
#endif

}  // namespace driftless::testing
