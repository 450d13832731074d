// SPDX-License-Identifier: Apache-2.0
// What answers a case: a choice of kernels, and models for those of whole steps.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/integer/kernels/kernel_set.h"
#include "driftless/loop/kernels/epilogues.h"
#include "driftless/quant/kernels/kernel_set.h"
#include "driftless/reason/reasoner.h"

namespace driftless::vectors {

struct EngineModel {
  std::string name;    ///< of the file, without its folder
  std::string sha256;  ///< of the file's bytes
  std::unique_ptr<reason::Reasoner> reasoner;
};

struct Engine {
  const quant::KernelSet* quantizers;
  const integer::KernelSet* products;
  const loop::EpilogueSet* epilogues;
  std::vector<EngineModel> models{};
};

/// The scalar kernels, which are the truth.
Engine scalar_engine();
/// The best kernels that this processor has and DRIFTLESS_ISA allows. Throws as isa_limit().
Engine best_engine();

/// A packed model for the cases of whole steps. Throws what load_packed and make_native_reasoner
/// throw, and Unsupported for an architecture that draws Gaussian numbers, whose last bit is the C
/// library's.
void add_model(Engine& engine, const std::filesystem::path& path);

/// Throws InvalidArgument where there is no such model, or one of another content.
reason::Reasoner& model_of(const Engine& engine, std::string_view name, std::string_view sha256);

}  // namespace driftless::vectors
