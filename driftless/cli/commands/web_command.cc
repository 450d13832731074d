// SPDX-License-Identifier: Apache-2.0
// driftless web: one page that runs a model in a browser.
#include <cstdio>
#include <memory>
#include <string>

#include "driftless/base/files/file.h"
#include "driftless/cli/command.h"
#include "driftless/cli/web_files.h"

namespace driftless::cli {
namespace {

constexpr const char* kUsualModel = "models/sudoku-small-mxint4-qat.safetensors";

struct WebOptions {
  std::string out;
  std::string model = kUsualModel;
};

void write_page(const WebOptions& options) {
  const std::string text = web_file("page.html", options.model);
  write_file_atomic(options.out, text);
  std::printf("%s: %.2f MB, opens from disk or any host\n", options.out.c_str(),
              static_cast<double>(text.size()) * 1e-6);
}

}  // namespace

void add_web_command(const Verb& verb) {
  auto options = std::make_shared<WebOptions>();
  verb.add_output("out", options->out, "the page (HTML)").required();
  verb.add_input("--model", options->model, "packed model or checkpoint of sudoku or maze")
      .shows_default();
  verb.example("driftless web index.html");
  verb.runs([options] { write_page(*options); });
}

}  // namespace driftless::cli
