// SPDX-License-Identifier: Apache-2.0
// SwiGLU forward and backward, one 16-byte vector of gates and ups per thread.
#include "driftless/lab/cuda/kernels.h"
#include "driftless/lab/cuda/swiglu.cuh"
#include "driftless/lab/cuda/vector.cuh"

namespace driftless::lab::cuda {
namespace {

constexpr int kThreads = 256;

// Where the thread's vector lies: `gate` in gate_up (the up lies `half` further), `act` in act.
struct Place {
  int64_t gate;
  int64_t act;
};
template <class T>
__device__ bool find_place(SwigluShape shape, Place* place) {
  const int64_t vector = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t per_row = shape.half / Vec<T>::kLength;
  if (vector >= shape.rows * per_row) return false;
  const int64_t row = vector / per_row;
  const int64_t column = (vector - row * per_row) * Vec<T>::kLength;
  *place = {row * 2 * shape.half + column, row * shape.half + column};
  return true;
}

template <class T>
__global__ void forward_kernel(SwigluShape shape, const T* gate_up, T* act) {
  Place at;
  if (!find_place<T>(shape, &at)) return;
  const Vec<T> gate = load(gate_up + at.gate);
  const Vec<T> up = load(gate_up + at.gate + shape.half);
  Vec<T> out;
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i) out.x[i] = swiglu(gate.x[i], up.x[i]);
  store(act + at.act, out);
}

template <class T>
__global__ void backward_kernel(SwigluShape shape, const T* gate_up, const T* d_act, T* d_gate_up) {
  Place at;
  if (!find_place<T>(shape, &at)) return;
  swiglu_backward(gate_up + at.gate, shape.half, load(d_act + at.act), d_gate_up + at.gate);
}

template <class T>
unsigned grid_of(SwigluShape shape) {
  return blocks_for(shape.rows * shape.half / Vec<T>::kLength, kThreads);
}

template <class T>
void forward(SwigluShape shape, const void* gate_up, void* act, Stream stream) {
  forward_kernel<<<grid_of<T>(shape), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      shape, static_cast<const T*>(gate_up), static_cast<T*>(act));
}

template <class T>
void backward(SwigluShape shape, const void* gate_up, const void* d_act, void* d_gate_up,
              Stream stream) {
  backward_kernel<<<grid_of<T>(shape), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      shape, static_cast<const T*>(gate_up), static_cast<const T*>(d_act),
      static_cast<T*>(d_gate_up));
}

}  // namespace

void swiglu_forward(Real type, SwigluShape shape, const void* gate_up, void* act, Stream stream) {
  (type == Real::Float32 ? forward<float> : forward<__nv_bfloat16>)(shape, gate_up, act, stream);
  check_launch("swiglu_forward");
}

void swiglu_backward(Real type, SwigluShape shape, const void* gate_up, const void* d_act,
                     void* d_gate_up, Stream stream) {
  (type == Real::Float32 ? backward<float> : backward<__nv_bfloat16>)(shape, gate_up, d_act,
                                                                      d_gate_up, stream);
  check_launch("swiglu_backward");
}

}  // namespace driftless::lab::cuda
