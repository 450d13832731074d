// SPDX-License-Identifier: Apache-2.0
// A build without d3.
#include "driftless/base/error.h"
#include "driftless/report/assets.h"

namespace driftless::report {

std::string_view plot_library() {
  fail(ErrorCode::Unsupported,
       "report: this build has no plotting library; install d3 (Debian: apt-get install node-d3), "
       "run cmake again and rebuild");
}

}  // namespace driftless::report
