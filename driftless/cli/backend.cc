// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/backend.h"

#include <algorithm>

#include "driftless/base/error.h"
#include "driftless/base/text.h"
#include "driftless/engine/cpu_reasoner.h"

namespace driftless::cli {

std::unique_ptr<reason::Reasoner> make_reasoner(const store::Checkpoint& checkpoint,
                                                const BackendOptions& options) {
  DRIFTLESS_REQUIRE(
      std::find(kDeviceNames.begin(), kDeviceNames.end(), options.device) != kDeviceNames.end(),
      ErrorCode::InvalidArgument, "--device; got '", options.device, "', expected one of ",
      join(kDeviceNames, ", "), "; did you mean '", nearest_word(options.device, kDeviceNames),
      "'?");
  if (options.device != "cpu") return make_torch_backend(checkpoint, options);
  DRIFTLESS_REQUIRE(options.dtype == "f32", ErrorCode::Unsupported, "--dtype; got '",
                    options.dtype, "', expected f32 on the device cpu");
  // Four boards per thread keep all threads busy until the last boards.
  const int64_t slots = options.slots > 0 ? options.slots : std::max<int64_t>(8, 4 * options.threads);
  return engine::make_cpu_reasoner(checkpoint, {.slots = slots, .threads = options.threads});
}

}  // namespace driftless::cli
