// SPDX-License-Identifier: Apache-2.0
// lab without CUDA: the CPU alone, and kernels that say how to get the others.
#include "driftless/base/error.h"
#include "driftless/lab/cuda/hopper/mixers.h"
#include "driftless/lab/cuda/quant/fake_quant.h"
#include "driftless/lab/cuda/quant/quantize.h"
#include "driftless/lab/device/device.h"
#include "driftless/lab/device/no_cuda.h"

namespace driftless::lab {

at::Device find_device(std::string_view name, int64_t /*index*/) {
  DRIFTLESS_REQUIRE(name == "cpu" || name == "cuda", ErrorCode::InvalidArgument, "device: got '",
                    name, "', expected cpu or cuda");
  if (name == "cuda") no_cuda("device");
  return at::Device(at::kCPU);
}

cuda::Stream current_stream() { no_cuda("current_stream"); }

at::Tensor wide_product(const at::Tensor&, const at::Tensor&) { no_cuda("wide_product"); }

struct StreamScope::Impl {};
StreamScope::StreamScope(at::Device) {}
StreamScope::~StreamScope() = default;

struct RepeatedStep::Impl {
  std::function<void()> step;
};
RepeatedStep::RepeatedStep(at::Device, std::function<void()> step)
    : impl_(new Impl{std::move(step)}) {}
RepeatedStep::~RepeatedStep() = default;
void RepeatedStep::run() { impl_->step(); }

namespace cuda {

void swiglu_forward(Real, SwigluShape, const void*, void*, Stream) { no_cuda("swiglu_forward"); }
void swiglu_backward(Real, SwigluShape, const void*, const void*, void*, Stream) {
  no_cuda("swiglu_backward");
}
void residual_norm_forward(Real, NormAxis, StateShape, const void*, const void*, float, void*,
                           float*, Stream) {
  no_cuda("residual_norm_forward");
}
void residual_norm_backward(Real, NormAxis, StateShape, const void*, const void*, const float*,
                            void*, Stream) {
  no_cuda("residual_norm_backward");
}
bool has_fused_mixers(Pass) { return false; }
void mix_tokens(const MixerShape&, const void*, const void*, const void*, float, void*, float*,
                Stream) {
  no_cuda("mix_tokens");
}
void mix_tokens_backward(const MixerShape&, const TokenTrace&, const void*, const void*,
                         const void*, const TokenGradients&, Stream) {
  no_cuda("mix_tokens_backward");
}
void channel_act_backward(const MixerShape&, const void*, const void*, const void*, void*, Stream) {
  no_cuda("channel_act_backward");
}
GradientParts gradient_parts(const MixerShape&) { no_cuda("gradient_parts"); }
void token_gradients(const MixerShape&, const void*, const TokenGradients&, float*, Stream) {
  no_cuda("token_gradients");
}
void mix_channels(const MixerShape&, const void*, const void*, const void*, float, void*, void*,
                  Stream) {
  no_cuda("mix_channels");
}
void rotate(Real, RopeShape, float, const float*, const float*, void*, Stream) {
  no_cuda("rotate");
}
void draw_normal(Generator*, const int64_t*, NoiseShape, float*, Stream) { no_cuda("draw_normal"); }
void draw_standard_normal(Generator*, const int64_t*, int64_t, int64_t, NoiseParts, float*,
                          Stream) {
  no_cuda("draw_standard_normal");
}
void fake_quantize(Real, QuantShape, const FakeQuantRule&, QuantSource, const void*,
                   const ScaleView*, void*, Stream) {
  no_cuda("fake_quantize");
}
void fake_quantize_backward(Real, QuantShape, const FakeQuantRule&, QuantSource, const void*,
                            const ScaleView*, const void*, QuantGradient, Stream) {
  no_cuda("fake_quantize_backward");
}
int64_t scale_partials(Real, QuantShape) { no_cuda("scale_partials"); }
void absmax_scales(Real, int64_t, int64_t, const void*, const formats::Element&, float*, Stream) {
  no_cuda("absmax_scales");
}
void adam_atan2_step(const FlatParameters&, AdamConstants, const StepScalars*, const bool*,
                     Stream) {
  no_cuda("adam_atan2_step");
}
void quantize_blocks(const quant::QuantSpec&, MatricesShape, const QuantizeBuffers&, Stream) {
  no_cuda("quantize_blocks");
}
void block_scales(const quant::QuantSpec&, MatricesShape, Real, const void*, quant::Scale*,
                  Stream) {
  no_cuda("block_scales");
}
void stored_scales(const quant::QuantSpec&, MatricesShape, Real, const void*, quant::Scale*,
                   Stream) {
  no_cuda("stored_scales");
}
void extents(const quant::QuantSpec&, MatricesShape, int64_t, Real, const void*, quant::Extent*,
             Stream) {
  no_cuda("extents");
}
void calibrate_extents(const quant::QuantSpec&, MatricesShape, int64_t, Real, const void*,
                       quant::Extent*, Stream) {
  no_cuda("calibrate_extents");
}
void scales_of_extents(const quant::QuantSpec&, const quant::Extent*, int64_t, quant::Scale*,
                       Stream) {
  no_cuda("scales_of_extents");
}
void two_level_scales(const quant::QuantSpec&, const quant::Extent*, int64_t, const quant::Extent*,
                      int64_t, quant::Scale*, Stream) {
  no_cuda("two_level_scales");
}
void apply_scales(const quant::QuantSpec&, MatricesShape, const quant::Scale*, ScaleIndex,
                  const QuantizeBuffers&, Stream) {
  no_cuda("apply_scales");
}

}  // namespace cuda
}  // namespace driftless::lab
