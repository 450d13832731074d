// SPDX-License-Identifier: Apache-2.0
// driftless info: what this build is and what it runs on, or what a model file holds.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/machine.h"
#include "driftless/base/text/text.h"
#include "driftless/cli/command.h"
#include "driftless/cli/model_input.h"
#include "driftless/loop/kernels/epilogues.h"
#include "driftless/model/config_json.h"
#include "driftless/model/shapes.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/quant/kernels/kernel_set.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/simulate/kernels/tiles.h"
#include "driftless/store/file_kind.h"
#include "driftless/store/safetensors_header.h"

namespace driftless::cli {
namespace {

/// The kernels of one family: those in use, and those that this processor could run.
template <class Set>
void print_kernels(const char* family, const Set& chosen, std::span<const Set* const> available) {
  std::vector<std::string_view> names;
  for (const Set* set : available) names.push_back(set->name);
  std::printf("%-11s %s (available: %s; set DRIFTLESS_ISA to choose)\n", family,
              std::string(chosen.name).c_str(), join(names, ", ").c_str());
}

void print_build() {
  std::printf("driftless   %s\n", DRIFTLESS_VERSION);
  std::printf("compiler    %s\n", compiler_name().c_str());
  std::printf("processor   %s\n", processor_name().c_str());
  print_kernels("kernels", quant::kernels(), quant::available_kernels());
  print_kernels("loop", loop::epilogues(), loop::available_epilogues());
  print_kernels("native", integer::kernels(), integer::available_kernels());
  const simulate::TileKernels* const tiles = simulate::tile_kernels();
  std::printf("tiles       %s\n", tiles == nullptr ? "none" : std::string(tiles->name).c_str());
}

/// Bytes of a packed weight: codes, scales and what else decoding needs.
int64_t packed_bytes(const store::PackedWeight& weight) {
  const quant::RunScales& scales = weight.matrix.scales;
  return std::ssize(weight.matrix.bytes) + std::ssize(scales.codes) +
         formats::scale_bits(weight.matrix.spec.scale) / 8 * std::ssize(scales.floats) +
         4 * std::ssize(weight.factors);
}

/// What multiplies a packed model: the native engine, or why that cannot.
std::string native_text(const store::PackedModel& packed) {
  const std::string why = native::why_simulated(packed);
  return why.empty() ? "runs on " + std::string(integer::kernels().name) : "no: " + why;
}

void print_packed(const store::PackedModel& packed, const std::string& path) {
  const auto layers = reason::linear_layers(packed.config);
  std::printf("packed      %s\n", quant::describe(packed.plan, layers).c_str());
  std::printf("source      sha256 %s\n", packed.source_sha256.c_str());
  if (!packed.calibration.empty()) std::printf("calibrated  %s\n", packed.calibration.c_str());
  if (!packed.method.empty()) std::printf("rounded     %s\n", packed.method.c_str());
  std::printf("size        %lld bytes\n", static_cast<long long>(std::filesystem::file_size(path)));
  std::printf("native      %s\n", native_text(packed).c_str());
  for (const auto& [name, weight] : packed.weights) {
    const quant::PackedMatrix& matrix = weight.matrix;
    const auto bits = 8 * static_cast<double>(packed_bytes(weight)) /
                      static_cast<double>(matrix.rows * matrix.cols);
    std::printf("  %-45s [%lld, %lld] %s, %.2f bits an element\n", name.c_str(),
                static_cast<long long>(matrix.rows), static_cast<long long>(matrix.cols),
                to_string(matrix.spec).c_str(), bits);
  }
  for (const auto& [name, tensor] : packed.tensors)
    std::printf("  %-45s %s float\n", name.c_str(), store::shape_text(tensor.shape).c_str());
}

void print_config(const std::string& path, const model::ModelConfig& config) {
  std::printf("model       %s\n", path.c_str());
  std::printf("parameters  %lld trained\n", static_cast<long long>(model::trainable_count(config)));
  std::printf("config      %s\n", model::config_to_json(config).c_str());
}

template <class Tensors>
void print_shapes(const Tensors& tensors) {
  for (const auto& [name, tensor] : tensors)
    std::printf("  %-45s %s\n", name.c_str(), store::shape_text(tensor.shape).c_str());
}

/// Of a float checkpoint the header says it all; how large the rest is does not matter.
bool print_header(const std::string& path) {
  if (store::kind_of(path) != store::FileKind::Safetensors) return false;
  const store::SafetensorsHeader header = store::read_safetensors_header(path);
  if (header.metadata.contains("packed") || !header.metadata.contains("config")) return false;
  print_config(path, store::parse_config(header));
  print_shapes(header.tensors);
  return true;
}

void print_model(const std::string& path) {
  if (print_header(path)) return;
  const store::ModelFile model = load_model(path);
  print_config(path, model.checkpoint.config);
  if (model.packed) return print_packed(*model.packed, path);
  print_shapes(model.checkpoint.tensors);
}

}  // namespace

void add_info_command(const Verb& verb) {
  auto path = std::make_shared<std::string>();
  verb.add_input("MODEL", *path, "model file of any kind; without it, the build");
  verb.example("driftless info models/sudoku-small.safetensors");
  verb.runs([path] { path->empty() ? print_build() : print_model(*path); });
}

}  // namespace driftless::cli
