// SPDX-License-Identifier: Apache-2.0
#include "driftless/simulate/linear_input.h"

#include <algorithm>

#include "driftless/base/error.h"
#include "driftless/loop/transpose.h"
#include "driftless/simulate/product/products.h"

namespace driftless::simulate {
namespace {

using quant::ConstMat;
using quant::Granularity;
using quant::Mat;
using reason::Point;
using reason::StridedView;

/// Whether the result does not depend on which values are neighbors.
bool is_order_free(const quant::QuantSpec& spec) {
  return spec.granularity == Granularity::Tensor || spec.granularity == Granularity::Unit;
}

}  // namespace

LinearInput::LinearInput(const Build& build, std::string name, const Shape& shape)
    : name_(std::move(name)), shape_(shape), arithmetic_{.dtype = build.dtype} {
  inputs_ = length_ = build.tensors.at(name_).shape.back();
  const auto planned = build.planned.find(name_);
  if (planned == build.planned.end()) return;
  const auto integers = build.integers.find(name_);
  if (integers != build.integers.end()) arithmetic_.integers = &integers->second;
  inputs_ = planned->second.inputs();
  if (planned->second.transforms_input() || planned->second.quantizes_input())
    layer_ = planned->second;
  if (planned->second.is_exact_in_bf16() && has_fast_bf16()) arithmetic_.dtype = Dtype::BFloat16;
  if (is_change()) memory_ = build.memory.claim(length_ * all_rows(build, shape));
}

int64_t LinearInput::stride() const {
  if (!layer_) return shape_.stride;
  return shape_.lie == Lie::Rows ? length_ : shape_.rows;
}

int64_t LinearInput::scratch_size() const {
  if (!layer_) return 0;
  // The copy, its transpose, and what a rotation needs.
  const int64_t copies = shape_.lie == Lie::Rows ? 1 : 2;
  return copies * shape_.rows * length_ + layer_->scratch_length();
}

const float* LinearInput::prepare(const Work& seen, const float* source, const PartRows& rows,
                                  float* scratch, bool is_last_pass) const {
  Work work = seen;
  if (!is_last_pass) work.observer = nullptr;
  if (!layer_) {
    show(work, Point::LinearInput, rows.first, view(source, rows.count, shape_.stride, inputs_));
    return source;
  }
  if (shape_.lie == Lie::Rows)
    prepare_rows(work, source, rows, scratch);
  else
    prepare_columns(work, source, rows.first, scratch);
  return scratch;
}

void LinearInput::prepare_rows(const Work& work, const float* source, const PartRows& part,
                               float* out) const {
  const auto [rows, first_row] = part;
  const Mat result{out, rows, length_};
  ConstMat input{source, rows, inputs_};
  if (layer_->transforms_input()) {
    float* const rotation_scratch = out + shape_.rows * length_;
    layer_->transform_input(input, result,
                            {rotation_scratch, static_cast<size_t>(layer_->scratch_length())});
    input = {out, rows, length_};
  }
  show(work, Point::LinearInput, first_row, view(input.data, rows, input.cols, input.cols));
  const float* const quantized = quantize(work, first_row, input, result);
  if (layer_->quantizes_input())
    show(work, Point::QuantizedInput, first_row, view(quantized, rows, length_, length_));
  std::fill_n(out + rows * length_, (shape_.rows - rows) * length_, 0.0f);
}

void LinearInput::prepare_columns(const Work& work, const float* source, int64_t first_row,
                                  float* out) const {
  const int64_t rows = shape_.rows;
  if (layer_->transforms_input() || !is_order_free(layer_->plan().acts))
    return transposed(work, source, first_row, out);
  show(work, Point::LinearInput, first_row, view(source, rows, shape_.stride, inputs_));
  for (int64_t i = 0; i < inputs_; ++i)
    std::copy_n(source + i * shape_.stride, rows, out + i * rows);
  const float* const quantized =
      quantize(work, first_row, {out, length_, rows}, {out, length_, rows});
  if (layer_->quantizes_input())
    show(work, Point::QuantizedInput, first_row, view(quantized, rows, rows, length_));
}

void LinearInput::transposed(const Work& work, const float* source, int64_t first_row,
                             float* out) const {
  const int64_t rows = shape_.rows;
  float* const upright = out + rows * length_;
  if (layer_->transforms_input()) {
    loop::transpose({source, inputs_, rows}, shape_.stride, out, inputs_);
    layer_->transform_input(
        {out, rows, inputs_}, {upright, rows, length_},
        {upright + rows * length_, static_cast<size_t>(layer_->scratch_length())});
  } else {
    loop::transpose({source, inputs_, rows}, shape_.stride, upright, length_);
  }
  show(work, Point::LinearInput, first_row, {upright, rows, length_, length_});
  const float* const quantized =
      quantize(work, first_row, {upright, rows, length_}, {upright, rows, length_});
  if (layer_->quantizes_input())
    show(work, Point::QuantizedInput, first_row, {quantized, rows, length_, length_});
  loop::transpose({upright, rows, length_}, length_, out, rows);
}

const float* LinearInput::quantize(const Work& work, int64_t first_row, ConstMat in,
                                   Mat out) const {
  if (!layer_->quantizes_input()) return out.data;
  const auto fake_quantize = [&](ConstMat values) {
    try {
      layer_->input_quantizer(work.call).fake_quantize(values, out);
    } catch (const Error& error) {
      fail(error.code(), "board ", work.slot.board_number, ", layer '", name_, "', call ",
           work.call, ": input: ", error.what());
    }
  };
  if (!is_change()) {
    fake_quantize(in);
    return out.data;
  }
  float* const sums = work.memory + memory_ + first_row * length_;
  for (int64_t i = 0; i < in.size(); ++i) out.data[i] = in.data[i] - sums[i];
  fake_quantize({out.data, out.rows, out.cols});
  for (int64_t i = 0; i < in.size(); ++i) sums[i] += out.data[i];
  return sums;
}

void LinearInput::show(const Work& work, Point point, int64_t first_row,
                       const StridedView& values) const {
  if (work.observer == nullptr || !work.observer->wants(point)) return;
  work.observer->observe({.point = point,
                          .slot = work.slot_index,
                          .call = work.call,
                          .layer = name_,
                          .first_row = first_row,
                          .values = values});
}

StridedView LinearInput::view(const float* values, int64_t rows, int64_t stride,
                              int64_t length) const {
  if (shape_.lie == Lie::Rows) return {values, rows, length, stride};
  return {values, rows, length, 1, stride};
}

}  // namespace driftless::simulate
