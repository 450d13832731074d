// SPDX-License-Identifier: Apache-2.0
// Stands in for onednn_product.cc where oneDNN was absent when driftless was built.
#include "driftless/base/error.h"
#include "driftless/simulate/product/products.h"

namespace driftless::simulate {

std::unique_ptr<Product> make_onednn_product(const MatmulShape&, int64_t, const Constant&) {
  fail(ErrorCode::Unsupported,
       "this build has no oneDNN, which the CPU engine needs; run on integers (--native), or "
       "install "
       "it (Debian: libdnnl-dev) and build again");
}

}  // namespace driftless::simulate
