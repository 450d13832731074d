// SPDX-License-Identifier: Apache-2.0
// Stands in for matmul.cc where oneDNN was absent when driftless was built.
#include "driftless/base/error.h"
#include "driftless/engine/matmul.h"

namespace driftless::engine {
namespace {

[[noreturn]] void fail_without_onednn() {
  fail(ErrorCode::Unsupported,
       "this build has no oneDNN, which the CPU engine needs; install it (Debian: libdnnl-dev) and "
       "build again");
}

}  // namespace

struct Matmul::Prepared {};

Matmul::Matmul(const MatmulShape&, int64_t) { fail_without_onednn(); }
Matmul::Matmul(const MatmulShape&, int64_t, const float*) { fail_without_onednn(); }
Matmul::~Matmul() = default;
Matmul::Matmul(Matmul&&) noexcept = default;
Matmul& Matmul::operator=(Matmul&&) noexcept = default;
void Matmul::run(int64_t, const float*, const float*, float*) const { fail_without_onednn(); }

}  // namespace driftless::engine
