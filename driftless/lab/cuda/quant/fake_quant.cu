// SPDX-License-Identifier: Apache-2.0
// Fake quantization along an axis. A block of 32 lies along the threads of a warp where its axis is
// contiguous (one 16-byte vector each), and inside a thread, for one vector of neighbors, where it
// is not. Exponents, scales and roundings are those of formats and quant; compiled without fused
// multiply-add, as they need it.
#include <cfloat>

#include "driftless/lab/cuda/quant/fake_quant.h"
#include "driftless/lab/cuda/quant/rounding.cuh"
#include "driftless/lab/cuda/reduce.cuh"
#include "driftless/lab/cuda/swiglu.cuh"
#include "driftless/lab/cuda/vector.cuh"
#include "driftless/quant/scale/scalar_scale.h"

namespace driftless::lab::cuda {
namespace {

constexpr int kThreads = 256;

/// A rule with the functor that rounds scaled values.
template <class Rounding>
struct Rule {
  FakeQuantRule rule;
  Rounding round;

  __device__ bool is_clipped(float scaled) const {
    const auto [low, high] = rule.passing;
    return rule.passes_ends ? scaled < low || scaled > high : scaled <= low || scaled >= high;
  }
};

/// Where the input of the quantizer comes from: itself, or silu(gate) * up rounded to T. `size`
/// counts the values of one outer index.
template <class T>
struct Values {
  const T* in;
  int64_t size;
  __device__ Vec<T> operator()(int64_t outer, int64_t at) const {
    return load(in + outer * size + at);
  }
};
template <class T>
struct Swiglu {
  const T* in;
  int64_t size;
  __device__ Vec<T> operator()(int64_t outer, int64_t at) const {
    const Vec<T> gate = load(in + 2 * outer * size + at);
    const Vec<T> up = load(in + 2 * outer * size + size + at);
    Vec<T> act;
#pragma unroll
    for (int i = 0; i < Vec<T>::kLength; ++i) act.x[i] = round_to(swiglu(gate.x[i], up.x[i]), T{});
    return act;
  }
};

/// What happens to the gradient of the quantizer's input.
template <class T>
struct ToValues {
  T* out;
  int64_t size;
  bool adds;
  __device__ void operator()(int64_t outer, int64_t at, Vec<T> d) const {
    T* const target = out + outer * size + at;
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
  int64_t size;
  __device__ void operator()(int64_t outer, int64_t at, const Vec<T>& d) const {
    const int64_t place = 2 * outer * size + at;
    swiglu_backward(in + place, size, d, out + place);
  }
};

template <class T>
__device__ float absmax_of(const Vec<T>& vec) {
  float most = 0;
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i) most = Larger()(fabsf(vec.x[i]), most);
  return most;
}

/// Scales of a block as the loops need them: x * down is on the grid, times up is the value.
struct BlockScale {
  float down;
  float up;
};
__device__ BlockScale block_scale(const formats::BlockScaling& scaling, float absmax) {
  if (!(absmax <= FLT_MAX)) return {nanf(""), nanf("")};
  const int exponent = threshold_block_exponent(scaling, absmax);
  return {formats::power_of_two(-exponent), formats::power_of_two(exponent)};
}

/// The scale of a vector's i-th value: one for all, or one for each.
__device__ BlockScale scale_at(BlockScale scale, int /*i*/) { return scale; }
__device__ BlockScale scale_at(const BlockScale* scales, int i) { return scales[i]; }

template <class T, class Rounding, class Scales>
__device__ Vec<T> quantized(const Rule<Rounding>& rule, Scales scales, const Vec<T>& x) {
  Vec<T> out;
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i) {
    const BlockScale scale = scale_at(scales, i);
    out.x[i] = isnan(scale.up) ? scale.up : rule.round(x.x[i] * scale.down) * scale.up;
  }
  return out;
}

template <class T, class Rounding, class Scales>
__device__ Vec<T> passed(const Rule<Rounding>& rule, Scales scales, const Vec<T>& x, Vec<T> d) {
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i)
    if (rule.is_clipped(x.x[i] * scale_at(scales, i).down)) d.x[i] = 0;
  return d;
}

/// One vector of every block: use(outer, at, vector index in the row, x, scale). Contiguous axis:
/// kFakeBlock / kLength neighbors of a warp hold a block; short rows are padded by idle lanes.
template <class T, class Source, class Use>
__device__ void each_contiguous(QuantShape shape, const formats::BlockScaling& scaling,
                                Source source, Use use) {
  constexpr int kLanes = kFakeBlock / Vec<T>::kLength;
  const int64_t blocks = (shape.length + kFakeBlock - 1) / kFakeBlock;
  const int64_t vector = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t outer = vector / (blocks * kLanes);
  const int64_t at = (vector - outer * blocks * kLanes) * Vec<T>::kLength;
  const bool is_inside = outer < shape.outer && at < shape.length;
  Vec<T> x{};
  if (is_inside) x = source(outer, at);
  const float absmax = team_reduce(absmax_of(x), kLanes, Larger());
  if (is_inside) use(outer, at, x, block_scale(scaling, absmax));
}

/// The same along an axis with `inner` neighbors: a thread has kLength of them and walks the block.
template <class T, class Source, class Use>
__device__ void each_strided(QuantShape shape, const formats::BlockScaling& scaling, Source source,
                             Use use) {
  const int64_t blocks = (shape.length + kFakeBlock - 1) / kFakeBlock;
  const int64_t vectors = shape.inner / Vec<T>::kLength;
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t outer = thread / (blocks * vectors);
  if (outer >= shape.outer) return;
  const int64_t rest = thread - outer * blocks * vectors;
  const int64_t first = rest / vectors * kFakeBlock;
  const int64_t column = (rest % vectors) * Vec<T>::kLength;
  const int64_t end = min(first + kFakeBlock, shape.length);
  float absmax[Vec<T>::kLength] = {};
  for (int64_t k = first; k < end; ++k) {
    const Vec<T> x = source(outer, k * shape.inner + column);
#pragma unroll
    for (int i = 0; i < Vec<T>::kLength; ++i) absmax[i] = Larger()(fabsf(x.x[i]), absmax[i]);
  }
  BlockScale scales[Vec<T>::kLength];
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i) scales[i] = block_scale(scaling, absmax[i]);
  for (int64_t k = first; k < end; ++k) {
    const int64_t at = k * shape.inner + column;
    use(outer, at, source(outer, at), scales);
  }
}

template <class T, bool kContiguous, class Source, class Rounding>
__global__ void blocks_forward(QuantShape shape, Rule<Rounding> rule, Source source, T* out) {
  const int64_t size = shape.length * shape.inner;
  const auto use = [&](int64_t outer, int64_t at, const Vec<T>& x, auto scale) {
    store(out + outer * size + at, quantized(rule, scale, x));
  };
  if constexpr (kContiguous)
    each_contiguous<T>(shape, rule.rule.scaling, source, use);
  else
    each_strided<T>(shape, rule.rule.scaling, source, use);
}

template <class T, bool kContiguous, class Source, class Target, class Rounding>
__global__ void blocks_backward(QuantShape shape, Rule<Rounding> rule, Source source,
                                const T* d_out, Target target) {
  const int64_t size = shape.length * shape.inner;
  const auto use = [&](int64_t outer, int64_t at, const Vec<T>& x, auto scale) {
    target(outer, at, passed(rule, scale, x, load(d_out + outer * size + at)));
  };
  if constexpr (kContiguous)
    each_contiguous<T>(shape, rule.rule.scaling, source, use);
  else
    each_strided<T>(shape, rule.rule.scaling, source, use);
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

template <class T, class Source, class Rounding>
__global__ void scaled_forward(QuantShape shape, Rule<Rounding> rule, ScaleView scales,
                               Source source, T* out) {
  ScaledPlace place;
  if (!find_place<T>(shape, scales, &place)) return;
  const Symmetric<Rounding> quantize{rule.round};
  Vec<T> x = source(place.outer, place.at);
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i)
    x.x[i] = isfinite(x.x[i]) ? quantize(x.x[i], {place.scale, 0}) : nanf("");
  store(out + place.outer * shape.length * shape.inner + place.at, x);
}

/// `partials` gets a block's share of the sum of d times the scale's derivative, or is null.
template <class T, class Source, class Target, class Rounding>
__global__ void scaled_backward(QuantShape shape, Rule<Rounding> rule, ScaleView scales,
                                Source source, const T* d_out, Target target, float* partials) {
  ScaledPlace place;
  float sum = 0;
  if (find_place<T>(shape, scales, &place)) {
    const Vec<T> x = source(place.outer, place.at);
    Vec<T> d = load(d_out + place.outer * shape.length * shape.inner + place.at);
#pragma unroll
    for (int i = 0; i < Vec<T>::kLength; ++i) {
      const float scaled = x.x[i] / place.scale;
      const bool is_clipped = rule.is_clipped(scaled);
      const float on_grid = rule.round(scaled);
      sum = __fmaf_rn(d.x[i], is_clipped ? on_grid : on_grid - scaled, sum);
      if (is_clipped) d.x[i] = 0;
    }
    target(place.outer, place.at, d);
  }
  if (partials == nullptr) return;
  const float total = block_reduce<kThreads>(sum, Sum());
  if (threadIdx.x == 0) partials[blockIdx.x] = total;
}

/// A block of threads for each run of `count` values.
template <class T>
__global__ void absmax_kernel(const T* in, int64_t count, formats::Element element, float* scales) {
  const T* const run = in + blockIdx.x * count;
  float absmax = 0;
  for (int64_t i = threadIdx.x * Vec<T>::kLength; i < count; i += kThreads * Vec<T>::kLength)
    absmax = Larger()(absmax, absmax_of(load(run + i)));
  absmax = block_reduce<kThreads>(absmax, Larger());
  if (threadIdx.x != 0) return;
  const bool is_finite = absmax <= FLT_MAX;
  scales[blockIdx.x] = is_finite ? quant::scalar::symmetric_scale(element, absmax).scale : absmax;
}

template <class T>
unsigned block_grid(QuantShape shape) {
  const int64_t blocks = (shape.length + kFakeBlock - 1) / kFakeBlock;
  const int64_t per_block =
      shape.inner == 1 ? kFakeBlock / Vec<T>::kLength : shape.inner / Vec<T>::kLength;
  return blocks_for(shape.outer * blocks * per_block, kThreads);
}

template <class T>
unsigned scaled_grid(QuantShape shape) {
  return blocks_for(shape.outer * shape.length * shape.inner / Vec<T>::kLength, kThreads);
}

/// What a launch needs besides its source and target.
template <class T>
class Launch {
 public:
  Launch(QuantShape shape, const FakeQuantRule& rule, const ScaleView* scales, Stream stream)
      : shape_(shape),
        size_(shape.length * shape.inner),
        rule_(rule),
        scales_(scales),
        stream_(static_cast<cudaStream_t>(stream)) {}

  void forward(QuantSource from, const void* in, void* out) const {
    with_source(from, static_cast<const T*>(in), [&](auto source) {
      with_rule([&](auto rule) { forward(rule, source, static_cast<T*>(out)); });
    });
  }

  void backward(QuantSource from, const void* in, const void* d_out,
                const QuantGradient& to) const {
    const T* const x = static_cast<const T*>(in);
    const T* const d = static_cast<const T*>(d_out);
    T* const d_in = static_cast<T*>(to.d_in);
    with_rule([&](auto rule) {
      if (from == QuantSource::Values)
        backward(rule, Values<T>{x, size_}, d, ToValues<T>{d_in, size_, to.adds}, to.partials);
      else
        backward(rule, Swiglu<T>{x, size_}, d, ToGateUp<T>{x, d_in, size_}, to.partials);
    });
  }

 private:
  template <class Use>
  void with_source(QuantSource from, const T* in, Use use) const {
    if (from == QuantSource::Values)
      use(Values<T>{in, size_});
    else
      use(Swiglu<T>{in, size_});
  }

  template <class Use>
  void with_rule(Use use) const {
    with_block_rounding(rule_.scaling.element, [&](auto rounding) {
      use(Rule<decltype(rounding)>{rule_, rounding});
    });
  }

  template <class Rounding, class Source>
  void forward(const Rule<Rounding>& rule, Source source, T* out) const {
    if (scales_ != nullptr)
      scaled_forward<T>
          <<<scaled_grid<T>(shape_), kThreads, 0, stream_>>>(shape_, rule, *scales_, source, out);
    else if (shape_.inner == 1)
      blocks_forward<T, true>
          <<<block_grid<T>(shape_), kThreads, 0, stream_>>>(shape_, rule, source, out);
    else
      blocks_forward<T, false>
          <<<block_grid<T>(shape_), kThreads, 0, stream_>>>(shape_, rule, source, out);
  }

  template <class Rounding, class Source, class Target>
  void backward(const Rule<Rounding>& rule, Source source, const T* d, Target target,
                float* partials) const {
    if (scales_ != nullptr)
      scaled_backward<T><<<scaled_grid<T>(shape_), kThreads, 0, stream_>>>(
          shape_, rule, *scales_, source, d, target, partials);
    else if (shape_.inner == 1)
      blocks_backward<T, true>
          <<<block_grid<T>(shape_), kThreads, 0, stream_>>>(shape_, rule, source, d, target);
    else
      blocks_backward<T, false>
          <<<block_grid<T>(shape_), kThreads, 0, stream_>>>(shape_, rule, source, d, target);
  }

  QuantShape shape_;
  int64_t size_;
  FakeQuantRule rule_;
  const ScaleView* scales_;
  cudaStream_t stream_;
};

}  // namespace

void fake_quantize(Real type, QuantShape shape, const FakeQuantRule& rule, QuantSource from,
                   const void* in, const ScaleView* scales, void* out, Stream stream) {
  with_real(type, [&](auto real) {
    Launch<decltype(real)>(shape, rule, scales, stream).forward(from, in, out);
  });
  check_launch("fake_quantize");
}

void fake_quantize_backward(Real type, QuantShape shape, const FakeQuantRule& rule,
                            QuantSource from, const void* in, const ScaleView* scales,
                            const void* d_out, QuantGradient to, Stream stream) {
  with_real(type, [&](auto real) {
    Launch<decltype(real)>(shape, rule, scales, stream).backward(from, in, d_out, to);
  });
  check_launch("fake_quantize_backward");
}

int64_t scale_partials(Real type, QuantShape shape) {
  return type == Real::Float32 ? scaled_grid<float>(shape) : scaled_grid<__nv_bfloat16>(shape);
}

void absmax_scales(Real type, int64_t runs, int64_t count, const void* in,
                   const formats::Element& element, float* scales, Stream stream) {
  with_real(type, [&](auto real) {
    using T = decltype(real);
    absmax_kernel<<<static_cast<unsigned>(runs), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const T*>(in), count, element, scales);
  });
  check_launch("absmax_scales");
}

}  // namespace driftless::lab::cuda
