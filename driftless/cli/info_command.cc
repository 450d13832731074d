// SPDX-License-Identifier: Apache-2.0
// driftless info: what this build is and what it runs on, or what a model file holds.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "driftless/base/machine.h"
#include "driftless/base/text.h"
#include "driftless/cli/command.h"
#include "driftless/model/config_json.h"
#include "driftless/model/shapes.h"
#include "driftless/quant/kernels/kernel_set.h"
#include "driftless/store/checkpoint.h"

namespace driftless::cli {
namespace {

void print_build() {
  const std::string chosen(quant::kernels().name);
  std::vector<std::string_view> available;
  for (const quant::KernelSet* set : quant::available_kernels()) available.push_back(set->name);
  std::printf("driftless   %s\n", DRIFTLESS_VERSION);
  std::printf("compiler    %s\n", compiler_name().c_str());
  std::printf("processor   %s\n", processor_name().c_str());
  std::printf("kernels     %s (available: %s; set DRIFTLESS_ISA to choose)\n", chosen.c_str(),
              join(available, ", ").c_str());
}

void print_model(const std::string& path) {
  const auto checkpoint = store::load_checkpoint(path);
  std::printf("model       %s\n", path.c_str());
  std::printf("parameters  %lld trained\n",
              static_cast<long long>(model::trainable_count(checkpoint.config)));
  std::printf("config      %s\n", model::config_to_json(checkpoint.config).c_str());
  for (const auto& [name, tensor] : checkpoint.tensors) {
    std::printf("  %-45s %s\n", name.c_str(), store::shape_text(tensor.shape).c_str());
  }
}

}  // namespace

void add_info_command(CLI::App& verb) {
  auto path = std::make_shared<std::string>();
  verb.add_option("MODEL", *path, "safetensors file; without it, the build");
  show_example(verb, "driftless info model.safetensors");
  verb.callback([path] { path->empty() ? print_build() : print_model(*path); });
}

}  // namespace driftless::cli
