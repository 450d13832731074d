// SPDX-License-Identifier: Apache-2.0
#include "driftless/vectors/engine.h"

#include <utility>

#include "driftless/base/error.h"
#include "driftless/base/sha256.h"
#include "driftless/model/architecture.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/store/packed_model.h"

namespace driftless::vectors {

Engine scalar_engine() {
  return {.quantizers = &quant::kScalarKernels,
          .products = &integer::kScalarKernels,
          .epilogues = loop::available_epilogues().back()};
}

Engine best_engine() {
  return {.quantizers = &quant::kernels(),
          .products = &integer::kernels(),
          .epilogues = &loop::epilogues()};
}

void add_model(Engine& engine, const std::filesystem::path& path) {
  const store::PackedModel packed = store::load_packed(path);
  const model::Architecture& row = model::architecture(packed.config);
  DRIFTLESS_REQUIRE(row.start == model::StartStates::Learned && !row.draws_noise(),
                    ErrorCode::Unsupported, path.string(), ": no cases of whole steps; got ",
                    row.name, ", which draws Gaussian numbers, expected a model without");
  native::NativeOptions options{
      .slots = 1, .kernels = engine.products, .epilogues = engine.epilogues};
  engine.models.push_back({.name = path.filename().string(),
                           .sha256 = sha256_of_file(path),
                           .reasoner = native::make_native_reasoner(packed, options)});
}

reason::Reasoner& model_of(const Engine& engine, std::string_view name, std::string_view sha256) {
  for (const EngineModel& model : engine.models) {
    if (model.name != name) continue;
    DRIFTLESS_REQUIRE(model.sha256 == sha256, ErrorCode::InvalidArgument, name,
                      ": another model than the case's; got SHA-256 ", model.sha256, ", expected ",
                      sha256);
    return *model.reasoner;
  }
  fail(ErrorCode::InvalidArgument, "no model '", name, "'; name its file with --model");
}

}  // namespace driftless::vectors
