// SPDX-License-Identifier: Apache-2.0
// Fake quantization along an axis, of values or of a SwiGLU's output, forward and backward. A block
// of 32 lies along the threads of a warp where its axis is contiguous (one 16-byte vector each),
// and inside a thread, for one vector of neighbors, where it is not. Bits are those of
// quant::Quantizer: divisions are divisions, and values are rounded to the grid by adding and
// taking away 2^23 steps.
#include <cfloat>

#include "driftless/lab/cuda/kernels.h"
#include "driftless/lab/cuda/vector.cuh"

namespace driftless::lab::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kBlock = 32;  // values that share an exponent
constexpr float kTwoTo23 = 8388608.0f;

__device__ float sigmoid(float x) { return 1.0f / (1.0f + __expf(-x)); }

__device__ float power_of_two(int exponent) {
  return __int_as_float(exponent < -126 ? 1 << (exponent + 149) : (exponent + 127) << 23);
}

/// The value nearest to `scaled` on the element's grid, ties to even, saturating.
__device__ float to_grid(const QuantGrid& grid, float scaled) {
  const float most = scaled < 0 ? -grid.min : grid.max;
  const float magnitude = fminf(fabsf(scaled), most);
  const float octave = fmaxf(__int_as_float(__float_as_int(magnitude) & 0x7f800000),
                             power_of_two(grid.min_exponent));
  const float constant = octave * (kTwoTo23 * power_of_two(-grid.mantissa_bits));
  const float rounded = __fsub_rn(__fadd_rn(magnitude, constant), constant);
  if (rounded == 0 && !grid.keeps_zero_sign) return 0;
  return copysignf(rounded, scaled);
}

/// More than half a step beyond the grid, or at its end where the step is learned.
__device__ bool is_clipped(const QuantGrid& grid, float scaled) {
  const float most = (scaled < 0 ? -grid.min : grid.max) + grid.clip_margin;
  return grid.clip_margin > 0 ? fabsf(scaled) > most : fabsf(scaled) >= most;
}

/// The shared exponent of a block whose largest magnitude is finite.
__device__ int shared_exponent(const QuantGrid& grid, float absmax) {
  if (absmax == 0) return -127;
  uint32_t bits = __float_as_uint(absmax);
  int exponent = static_cast<int>(bits >> 23) - 127;
  uint32_t fraction = bits & 0x7fffffu;
  if (exponent == -127) {  // subnormal
    const int missing = __clz(fraction) - 8;
    exponent = -126 - missing;
    fraction = (fraction << missing) & 0x7fffffu;
  }
  exponent += -grid.max_exponent + (fraction >= grid.raise_from ? 1 : 0) -
              (fraction < grid.lower_below ? 1 : 0);
  return min(max(exponent, -127), 127 - grid.max_exponent);
}

// fmaxf drops NaN; a NaN must reach the output, where the trainer sees it.
__device__ float larger(float a, float b) { return a > b || isnan(a) ? a : b; }

/// Where the input of the quantizer comes from: itself, or silu(gate) * up rounded to T.
template <class T>
struct Values {
  const T* in;
  int64_t half;  // unused
  __device__ Vec<T> operator()(int64_t outer, int64_t at) const {
    return load(in + outer * half + at);
  }
};
template <class T>
struct Swiglu {
  const T* in;
  int64_t half;  // gates of one outer index
  __device__ Vec<T> operator()(int64_t outer, int64_t at) const {
    const Vec<T> gate = load(in + 2 * outer * half + at);
    const Vec<T> up = load(in + 2 * outer * half + half + at);
    Vec<T> act;
#pragma unroll
    for (int i = 0; i < Vec<T>::kLength; ++i)
      act.x[i] = round_to(gate.x[i] * sigmoid(gate.x[i]) * up.x[i], T{});
    return act;
  }
};

/// What happens to the gradient of the quantizer's input.
template <class T>
struct ToValues {
  T* out;
  int64_t half;
  bool adds;
  __device__ void operator()(int64_t outer, int64_t at, Vec<T> d) const {
    T* const target = out + outer * half + at;
    if (adds) {
      const Vec<T> before = load(target);
#pragma unroll
      for (int i = 0; i < Vec<T>::kLength; ++i) d.x[i] += before.x[i];
    }
    store(target, d);
  }
};
template <class T>
struct ToGateUp {
  const T* in;
  T* out;
  int64_t half;
  __device__ void operator()(int64_t outer, int64_t at, const Vec<T>& d) const {
    const int64_t place = 2 * outer * half + at;
    const Vec<T> gate = load(in + place);
    const Vec<T> up = load(in + place + half);
    Vec<T> d_gate;
    Vec<T> d_up;
#pragma unroll
    for (int i = 0; i < Vec<T>::kLength; ++i) {
      const float s = sigmoid(gate.x[i]);
      d_gate.x[i] = d.x[i] * up.x[i] * s * (1.0f + gate.x[i] * (1.0f - s));
      d_up.x[i] = d.x[i] * gate.x[i] * s;
    }
    store(out + place, d_gate);
    store(out + place + half, d_up);
  }
};

template <class T>
__device__ float absmax_of(const Vec<T>& vec) {
  float most = 0;
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i) most = larger(fabsf(vec.x[i]), most);
  return most;
}

/// Scales of a block as the loops need them: x * down is on the grid, times up is the value.
struct BlockScale {
  float down;
  float up;
};
__device__ BlockScale block_scale(const QuantGrid& grid, float absmax) {
  if (!(absmax <= FLT_MAX)) return {nanf(""), nanf("")};
  const int exponent = shared_exponent(grid, absmax);
  return {power_of_two(-exponent), power_of_two(exponent)};
}

template <class T>
__device__ Vec<T> quantized(const QuantGrid& grid, BlockScale scale, const Vec<T>& x) {
  Vec<T> out;
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i)
    out.x[i] = isnan(scale.up) ? scale.up : to_grid(grid, x.x[i] * scale.down) * scale.up;
  return out;
}

template <class T>
__device__ Vec<T> passed(const QuantGrid& grid, BlockScale scale, const Vec<T>& x, Vec<T> d) {
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i)
    if (is_clipped(grid, x.x[i] * scale.down)) d.x[i] = 0;
  return d;
}

/// One vector of every block: use(outer, at, vector index in the row, x, scale). Contiguous axis:
/// kBlock / kLength neighbors of a warp hold a block; short rows are padded by idle lanes.
template <class T, class Source, class Use>
__device__ void each_contiguous(QuantShape shape, const QuantGrid& grid, Source source, Use use) {
  constexpr int kLanes = kBlock / Vec<T>::kLength;
  const int64_t blocks = (shape.length + kBlock - 1) / kBlock;
  const int64_t vector = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t outer = vector / (blocks * kLanes);
  const int64_t at = (vector - outer * blocks * kLanes) * Vec<T>::kLength;
  const bool is_inside = outer < shape.outer && at < shape.length;
  Vec<T> x{};
  if (is_inside) x = source(outer, at);
  float absmax = absmax_of(x);
#pragma unroll
  for (int lane = 1; lane < kLanes; lane *= 2)
    absmax = larger(absmax, __shfl_xor_sync(0xffffffffu, absmax, lane));
  if (is_inside) use(outer, at, x, block_scale(grid, absmax));
}

/// The same along an axis with `inner` neighbors: a thread has kLength of them and walks the block.
template <class T, class Source, class Use>
__device__ void each_strided(QuantShape shape, const QuantGrid& grid, Source source, Use use) {
  const int64_t blocks = (shape.length + kBlock - 1) / kBlock;
  const int64_t vectors = shape.inner / Vec<T>::kLength;
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t outer = thread / (blocks * vectors);
  if (outer >= shape.outer) return;
  const int64_t rest = thread - outer * blocks * vectors;
  const int64_t first = rest / vectors * kBlock;
  const int64_t column = (rest % vectors) * Vec<T>::kLength;
  const int64_t end = min(first + kBlock, shape.length);
  float absmax[Vec<T>::kLength] = {};
  for (int64_t k = first; k < end; ++k) {
    const Vec<T> x = source(outer, k * shape.inner + column);
#pragma unroll
    for (int i = 0; i < Vec<T>::kLength; ++i) absmax[i] = larger(fabsf(x.x[i]), absmax[i]);
  }
  BlockScale scales[Vec<T>::kLength];
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i) scales[i] = block_scale(grid, absmax[i]);
  for (int64_t k = first; k < end; ++k) {
    const int64_t at = k * shape.inner + column;
    use(outer, at, source(outer, at), scales);
  }
}

template <class T>
__device__ Vec<T> quantized(const QuantGrid& grid, const BlockScale* scales, const Vec<T>& x) {
  Vec<T> out;
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i)
    out.x[i] =
        isnan(scales[i].up) ? scales[i].up : to_grid(grid, x.x[i] * scales[i].down) * scales[i].up;
  return out;
}

template <class T>
__device__ Vec<T> passed(const QuantGrid& grid, const BlockScale* scales, const Vec<T>& x,
                         Vec<T> d) {
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i)
    if (is_clipped(grid, x.x[i] * scales[i].down)) d.x[i] = 0;
  return d;
}

template <class T, bool kContiguous, class Source>
__global__ void blocks_forward(QuantShape shape, QuantGrid grid, Source source, T* out) {
  const int64_t size = shape.length * shape.inner;
  const auto use = [&](int64_t outer, int64_t at, const Vec<T>& x, auto scale) {
    store(out + outer * size + at, quantized(grid, scale, x));
  };
  if constexpr (kContiguous)
    each_contiguous<T>(shape, grid, source, use);
  else
    each_strided<T>(shape, grid, source, use);
}

template <class T, bool kContiguous, class Source, class Target>
__global__ void blocks_backward(QuantShape shape, QuantGrid grid, Source source, const T* d_out,
                                Target target) {
  const int64_t size = shape.length * shape.inner;
  const auto use = [&](int64_t outer, int64_t at, const Vec<T>& x, auto scale) {
    target(outer, at, passed(grid, scale, x, load(d_out + outer * size + at)));
  };
  if constexpr (kContiguous)
    each_contiguous<T>(shape, grid, source, use);
  else
    each_strided<T>(shape, grid, source, use);
}

/// One vector a thread; a scale serves `per_scale` neighbors, a multiple of the vector.
struct ScaledPlace {
  int64_t outer;
  int64_t at;
  float scale;
};
template <class T>
__device__ bool find_place(QuantShape shape, ScaleView scales, ScaledPlace* place) {
  const int64_t size = shape.length * shape.inner;
  const int64_t first =
      (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * Vec<T>::kLength;
  if (first >= shape.outer * size) return false;
  const int64_t outer = first / size;
  *place = {outer, first - outer * size, scales.values[first / scales.per_scale]};
  return true;
}

template <class T, class Source>
__global__ void scaled_forward(QuantShape shape, QuantGrid grid, ScaleView scales, Source source,
                               T* out) {
  ScaledPlace place;
  if (!find_place<T>(shape, scales, &place)) return;
  Vec<T> x = source(place.outer, place.at);
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i) {
    const float value = to_grid(grid, __fdiv_rn(x.x[i], place.scale)) * place.scale;
    x.x[i] = isfinite(x.x[i]) ? value : nanf("");
  }
  store(out + place.outer * shape.length * shape.inner + place.at, x);
}

/// `partials` gets a block's share of the sum of d times the step's derivative, or is null.
template <class T, class Source, class Target>
__global__ void scaled_backward(QuantShape shape, QuantGrid grid, ScaleView scales, Source source,
                                const T* d_out, Target target, float* partials) {
  ScaledPlace place;
  float sum = 0;
  if (find_place<T>(shape, scales, &place)) {
    const Vec<T> x = source(place.outer, place.at);
    Vec<T> d = load(d_out + place.outer * shape.length * shape.inner + place.at);
#pragma unroll
    for (int i = 0; i < Vec<T>::kLength; ++i) {
      const float scaled = __fdiv_rn(x.x[i], place.scale);
      const bool clipped = is_clipped(grid, scaled);
      const float on_grid = to_grid(grid, scaled);
      sum += d.x[i] * (clipped ? on_grid : on_grid - scaled);
      if (clipped) d.x[i] = 0;
    }
    target(place.outer, place.at, d);
  }
  if (partials == nullptr) return;
  __shared__ float sums[kThreads];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partials[blockIdx.x] = sums[0];
}

/// A block of threads for each run of `count` values.
template <class T>
__global__ void absmax_scales(const T* in, int64_t count, float most, float* scales) {
  __shared__ float maxima[kThreads];
  const T* const run = in + blockIdx.x * count;
  float absmax = 0;
  for (int64_t i = threadIdx.x * Vec<T>::kLength; i < count; i += kThreads * Vec<T>::kLength)
    absmax = larger(absmax, absmax_of(load(run + i)));
  maxima[threadIdx.x] = absmax;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      maxima[threadIdx.x] = larger(maxima[threadIdx.x], maxima[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  float scale = larger(__fdiv_rn(maxima[0], most), FLT_MIN);
  while (isinf(scale * most) && !isinf(maxima[0])) scale = nextafterf(scale, 0);
  scales[blockIdx.x] = scale;
}

template <class T>
unsigned block_grid(QuantShape shape) {
  const int64_t blocks = (shape.length + kBlock - 1) / kBlock;
  const int64_t per_block =
      shape.inner == 1 ? kBlock / Vec<T>::kLength : shape.inner / Vec<T>::kLength;
  return blocks_for(shape.outer * blocks * per_block, kThreads);
}

template <class T>
unsigned scaled_grid(QuantShape shape) {
  return blocks_for(shape.outer * shape.length * shape.inner / Vec<T>::kLength, kThreads);
}

template <class T>
class Launch {
 public:
  Launch(QuantShape shape, QuantGrid grid, Stream stream)
      : shape_(shape),
        half_(shape.length * shape.inner),
        grid_(grid),
        stream_(static_cast<cudaStream_t>(stream)) {}

  void forward(QuantSource from, const void* in, const ScaleView* scales, void* out) const {
    const T* const x = static_cast<const T*>(in);
    if (from == QuantSource::Values)
      forward(Values<T>{x, half_}, scales, static_cast<T*>(out));
    else
      forward(Swiglu<T>{x, half_}, scales, static_cast<T*>(out));
  }

  void backward(QuantSource from, const void* in, const ScaleView* scales, const void* d_out,
                const QuantGradient& to) const {
    const T* const x = static_cast<const T*>(in);
    const T* const d = static_cast<const T*>(d_out);
    if (from == QuantSource::Values)
      backward(Values<T>{x, half_}, scales, d,
               ToValues<T>{static_cast<T*>(to.d_in), half_, to.adds}, to.partials);
    else
      backward(Swiglu<T>{x, half_}, scales, d, ToGateUp<T>{x, static_cast<T*>(to.d_in), half_},
               to.partials);
  }

 private:
  template <class Source>
  void forward(Source source, const ScaleView* scales, T* out) const {
    if (scales != nullptr)
      scaled_forward<T>
          <<<scaled_grid<T>(shape_), kThreads, 0, stream_>>>(shape_, grid_, *scales, source, out);
    else if (shape_.inner == 1)
      blocks_forward<T, true>
          <<<block_grid<T>(shape_), kThreads, 0, stream_>>>(shape_, grid_, source, out);
    else
      blocks_forward<T, false>
          <<<block_grid<T>(shape_), kThreads, 0, stream_>>>(shape_, grid_, source, out);
  }

  template <class Source, class Target>
  void backward(Source source, const ScaleView* scales, const T* d, Target target,
                float* partials) const {
    if (scales != nullptr)
      scaled_backward<T><<<scaled_grid<T>(shape_), kThreads, 0, stream_>>>(
          shape_, grid_, *scales, source, d, target, partials);
    else if (shape_.inner == 1)
      blocks_backward<T, true>
          <<<block_grid<T>(shape_), kThreads, 0, stream_>>>(shape_, grid_, source, d, target);
    else
      blocks_backward<T, false>
          <<<block_grid<T>(shape_), kThreads, 0, stream_>>>(shape_, grid_, source, d, target);
  }

  QuantShape shape_;
  int64_t half_;
  QuantGrid grid_;
  cudaStream_t stream_;
};

}  // namespace

void fake_quantize(Real type, QuantShape shape, QuantGrid grid, QuantSource from, const void* in,
                   const ScaleView* scales, void* out, Stream stream) {
  if (type == Real::Float32)
    Launch<float>(shape, grid, stream).forward(from, in, scales, out);
  else
    Launch<__nv_bfloat16>(shape, grid, stream).forward(from, in, scales, out);
  check_launch("fake_quantize");
}

void fake_quantize_backward(Real type, QuantShape shape, QuantGrid grid, QuantSource from,
                            const void* in, const ScaleView* scales, const void* d_out,
                            QuantGradient to, Stream stream) {
  if (type == Real::Float32)
    Launch<float>(shape, grid, stream).backward(from, in, scales, d_out, to);
  else
    Launch<__nv_bfloat16>(shape, grid, stream).backward(from, in, scales, d_out, to);
  check_launch("fake_quantize_backward");
}

int64_t step_partials(Real type, QuantShape shape) {
  return type == Real::Float32 ? scaled_grid<float>(shape) : scaled_grid<__nv_bfloat16>(shape);
}

void absmax_steps(Real type, int64_t runs, int64_t count, const void* in, float most, float* scales,
                  Stream stream) {
  const auto blocks = static_cast<unsigned>(runs);
  const auto where = static_cast<cudaStream_t>(stream);
  if (type == Real::Float32)
    absmax_scales<<<blocks, kThreads, 0, where>>>(static_cast<const float*>(in), count, most,
                                                  scales);
  else
    absmax_scales<<<blocks, kThreads, 0, where>>>(static_cast<const __nv_bfloat16*>(in), count,
                                                  most, scales);
  check_launch("absmax_steps");
}

}  // namespace driftless::lab::cuda
