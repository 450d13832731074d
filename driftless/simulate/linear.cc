// SPDX-License-Identifier: Apache-2.0
#include "driftless/simulate/linear.h"

namespace driftless::simulate {
namespace {

/// Where rows lie in columns, the weight stands on the left and nothing is transposed.
MatmulShape product_shape(const LinearInput& input, const LinearInput::Shape& shape,
                          int64_t outputs) {
  const int64_t k = input.length();
  if (shape.lie == Lie::Columns)
    return {
        .m = outputs, .k = k, .n = shape.rows, .a = {k}, .b = {input.stride()}, .c = {shape.rows}};
  return {.m = shape.rows,
          .k = k,
          .n = outputs,
          .a = {input.stride()},
          .b = transposed(k),
          .c = {outputs}};
}

Constant constant(const store::Tensor& weight, Lie lie) {
  const float* const values = weight.values.data();
  return lie == Lie::Columns ? Constant{.a = values} : Constant{.b = values};
}

}  // namespace

Linear::Linear(const Build& build, const std::string& name, const LinearInput::Shape& shape)
    : outputs_(build.tensors.at(name).shape.front()),
      part_rows_(shape.rows),
      input_(build, name, shape),
      product_(input_.arithmetic(), product_shape(input_, shape, outputs_), build.workers,
               constant(build.tensors.at(name), shape.lie)) {
  if (input_.is_change())
    memory_ = build.memory.claim(outputs_ * LinearInput::all_rows(build, shape));
}

void Linear::run(const Work& work, const float* source, const PartRows& rows, float* scratch,
                 float* out) const {
  const int64_t passes = input_.is_change() ? work.passes : 1;
  for (int64_t pass = 1; pass <= passes; ++pass) {
    const float* const input = input_.prepare(work, source, rows, scratch, pass == passes);
    product_.run(work.worker, input, input, out);  // The weight is constant; its side is ignored.
    if (input_.is_change()) add_up(work, rows, out);
  }
}

void Linear::add_up(const Work& work, const PartRows& rows, float* out) const {
  float* const sums = work.memory + memory_ + rows.first * outputs_;
  for (int64_t i = 0; i < part_rows_ * outputs_; ++i) out[i] = sums[i] += out[i];
}

}  // namespace driftless::simulate
