// SPDX-License-Identifier: Apache-2.0
// driftless export: a model as what runs without this program.
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/cli/command.h"
#include "driftless/cli/commands/export_onnx_command.h"
#include "driftless/cli/model_input.h"
#include "driftless/export/export_c.h"
#include "driftless/export/identifier.h"

namespace driftless::cli {
namespace {

struct ExportOptions {
  std::string model;
  std::string folder;
  exporter::COptions c;
};

/// All files or, where one cannot be written, none that was not there before.
void write_all(const std::filesystem::path& folder, const std::vector<exporter::CFile>& files) {
  std::error_code error;
  const bool is_new = std::filesystem::create_directories(folder, error);
  DRIFTLESS_REQUIRE(!error, ErrorCode::Io, folder.string(), ": cannot make the folder; got ",
                    error.message());
  std::vector<std::filesystem::path> written;
  try {
    for (const exporter::CFile& file : files) {
      const std::filesystem::path path = folder / file.name;
      // Noted before, as a write may fail when the name is there: where the folder is synced.
      if (!std::filesystem::exists(path, error)) written.push_back(path);
      write_file_atomic(path, file.text);
    }
  } catch (...) {
    for (const auto& path : written) std::filesystem::remove(path, error);
    if (is_new) std::filesystem::remove(folder, error);
    throw;
  }
}

/// Their names are known only once they are made.
void require_apart(const ExportOptions& options, const std::vector<exporter::CFile>& files) {
  for (const exporter::CFile& file : files) {
    const std::filesystem::path path = std::filesystem::path(options.folder) / file.name;
    std::error_code ignored;
    DRIFTLESS_REQUIRE(!std::filesystem::equivalent(path, options.model, ignored),
                      ErrorCode::InvalidArgument, "OUT: MODEL reads that file; got ", path.string(),
                      ", expected another --name");
  }
}

void print(const exporter::CExport& made, const ExportOptions& options) {
  std::string names;
  for (const exporter::CFile& file : made.files) names += " " + file.name;
  std::printf("%s:%s\n", options.folder.c_str(), names.c_str());
  std::printf("flash: %" PRId64 " bytes of constants (weights %" PRId64 ", tables %" PRId64
              "), and the code\n",
              made.flash_bytes(), made.weight_bytes, made.table_bytes);
  std::printf("RAM: %" PRId64 " bytes in plain C (the schedule needs %" PRId64 "), %" PRId64
              " with DSP kernels, %" PRId64 " with vectors, and the stack\n",
              made.plain_c.bytes, made.plain_c.least, made.dsp.bytes, made.vector.bytes);
  std::printf("a step: %" PRId64 " multiply-adds\n", made.multiply_adds);
  std::printf("self-test: hash %016" PRIx64 "\n", made.hash);
}

void export_c(ExportOptions options) {
  const store::ModelFile file = load_model(options.model);
  DRIFTLESS_REQUIRE(file.packed.has_value(), ErrorCode::Unsupported, options.model,
                    ": export c; got a float model, expected a packed one; pack it with "
                    "'driftless quantize'");
  if (options.c.name.empty())
    options.c.name =
        exporter::identifier_of(std::filesystem::path(options.model).filename().string());
  const exporter::CExport made = exporter::export_c(*file.packed, options.c);
  require_apart(options, made.files);
  write_all(options.folder, made.files);
  print(made, options);
}

void add_export_c(const Verb& verb) {
  auto options = std::make_shared<ExportOptions>();
  verb.add_input("MODEL", options->model, "packed model (see quantize)").required();
  verb.add_option("OUT", options->folder, "folder for the sources; made where there is none")
      .required();
  verb.add_option("--name", options->c.name,
                  "of the model in C, and of the files (default: from the model's file)");
  verb.add_option("--kernels", options->c.kernels,
                  "besides plain C: dsp (Cortex-M4, M7), mve (M55), riscv (vectors), or c for none")
      .shows_default();
  verb.add_option("--section", options->c.section,
                  "for constants, such as .extflash (default: the compiler's)");
  verb.add_option("--tile", options->c.tile,
                  "rows that pass a layer together: more take memory, fewer time")
      .shows_default();
  verb.add_option("--flash", options->c.most_flash, "refuse constants of more bytes").positive();
  verb.add_option("--ram", options->c.most_ram, "refuse an arena of more bytes").positive();
  verb.example("driftless export c models/sudoku-small-mxint4.safetensors firmware --name sudoku");
  verb.runs([options] { export_c(*options); });
}

}  // namespace

void add_export_command(const Verb& verb) {
  verb.requires_verb();
  add_export_c(verb.add_verb("c", "C99 without a heap, the states bit for bit those of --native"));
  add_export_onnx_command(verb.add_verb("onnx", "a graph for ONNX Runtime and other tools"));
}

}  // namespace driftless::cli
