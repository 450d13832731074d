// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/check/kit.h"

namespace driftless::lab {

std::vector<at::ScalarType> CheckKit::types() const {
  std::vector<at::ScalarType> all = {at::kFloat};
  if (device_.is_cuda()) all.push_back(at::kBFloat16);
  return all;
}

at::Tensor CheckKit::random(const std::vector<int64_t>& sizes, double scale) {
  at::Tensor values = at::empty(sizes, at::kDouble);
  double* data = values.data_ptr<double>();
  for (int64_t i = 0; i < values.numel(); ++i) data[i] = scale * rng_.gaussian();
  return values.to(at::kBFloat16).to(at::kDouble);
}

double relative_error(const at::Tensor& got, const at::Tensor& expected) {
  const at::Tensor mine = got.detach().to(at::kCPU).to(at::kDouble).reshape(expected.sizes());
  return (mine - expected).norm().item<double>() / expected.norm().item<double>();
}

void CheckKit::compare(const std::string& name, const at::Tensor& got, const at::Tensor& expected,
                       double bound) {
  report(name, relative_error(got, expected.detach()), bound);
}

void CheckKit::report(const std::string& name, double error, double bound) {
  const CheckResult result{name, error, bound};
  all_passed_ = all_passed_ && result.passed();
  report_(result);
}

}  // namespace driftless::lab
