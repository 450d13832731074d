// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/error.h"
#include "driftless/cli/backend.h"

namespace driftless::cli {

std::unique_ptr<reason::Reasoner> make_torch_backend(const store::Checkpoint&,
                                                     const BackendOptions& options) {
  fail(ErrorCode::Unsupported, "--device ", options.device,
       ": this build has no libtorch; install it (Debian: libtorch-dev) and configure with "
       "-DDRIFTLESS_LAB=ON, and -DDRIFTLESS_CUDA=ON for cuda; or use --device cpu");
}

}  // namespace driftless::cli
