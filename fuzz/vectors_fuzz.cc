// SPDX-License-Identifier: Apache-2.0
// Conformance vectors from anywhere: an Error, or cases that are answered, by the scalar kernels as
// by the best ones.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"
#include "driftless/vectors/stream.h"

namespace {

using namespace driftless;

/// The cases that were read, and how many have other answers; -1 where a line was refused.
std::pair<int64_t, int64_t> read_with(const vectors::Engine& engine, std::string_view text) {
  vectors::Verifier verifier(engine);
  int64_t different = 0;
  try {
    for (const std::string_view line : split(text, '\n')) verifier.take(line);
    different = verifier.different();
  } catch (const Error&) {
    different = -1;
  }
  return {verifier.cases(), different};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const vectors::Engine scalar = vectors::scalar_engine();
  static const vectors::Engine best = vectors::best_engine();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (read_with(scalar, text) != read_with(best, text)) std::abort();
  return 0;
}
