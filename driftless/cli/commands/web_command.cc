// SPDX-License-Identifier: Apache-2.0
// driftless web: one page that runs a model in a browser.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "driftless/base/error.h"
#include "driftless/base/file.h"
#include "driftless/base/text_file.h"
#include "driftless/cli/command.h"
#include "driftless/cli/data_folder.h"
#include "driftless/cli/model_input.h"
#include "driftless/report/web_page.h"
#include "driftless/store/file_kind.h"

namespace driftless::cli {
namespace {

constexpr const char* kUsualModel = "models/sudoku-small-mxint4-qat.safetensors";

struct Options {
  std::string out;
  std::string model = kUsualModel;
};

std::string read_template() {
  const std::filesystem::path path = data_folder("web") / "page.html";
  DRIFTLESS_REQUIRE(std::filesystem::exists(path), ErrorCode::Unsupported, path.string(),
                    ": the page is not built; scripts/build_web builds it (clang-16, lld-16, "
                    "wasi-libc, libc++-16-dev-wasm32, nodejs)");
  return read_text(path);
}

void write_page(const Options& options) {
  const std::string page = read_template();
  const std::filesystem::path path = or_bundled(options.model);
  DRIFTLESS_REQUIRE(store::kind_of(path) == store::FileKind::Safetensors, ErrorCode::Unsupported,
                    path.string(), ": the page reads safetensors alone; driftless convert first");
  const model::ModelConfig config = load_model(path).checkpoint.config;
  DRIFTLESS_REQUIRE(config.task == "sudoku" || config.task == "maze", ErrorCode::Unsupported,
                    path.string(), ": the page shows boards of sudoku and maze; got task ",
                    config.task);
  const std::string text =
      report::web_page(page, "page.html", path.filename().string(), read_file(path));
  write_file_atomic(options.out, text);
  std::printf("%s: %.2f MB, opens from disk or any host\n", options.out.c_str(),
              static_cast<double>(text.size()) * 1e-6);
}

}  // namespace

void add_web_command(const Verb& verb) {
  auto options = std::make_shared<Options>();
  verb.add_output("out", options->out, "the page (HTML)").required();
  verb.add_input("--model", options->model, "packed model or checkpoint of sudoku or maze")
      .shows_default();
  verb.example("driftless web index.html");
  verb.runs([options] { write_page(*options); });
}

}  // namespace driftless::cli
