// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/web_files.h"

#include <filesystem>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/base/files/text_file.h"
#include "driftless/cli/data_folder.h"
#include "driftless/cli/model_input.h"
#include "driftless/report/web_page.h"
#include "driftless/run/model.h"
#include "driftless/store/file_kind.h"

namespace driftless::cli {
namespace {

std::string read_template(const char* name) {
  const std::filesystem::path path = data_folder("web") / name;
  DRIFTLESS_REQUIRE(std::filesystem::exists(path), ErrorCode::Unsupported, path.string(),
                    ": not built; scripts/build_web builds it (clang-16, lld-16, wasi-libc, "
                    "libc++-16-dev-wasm32, nodejs)");
  return read_text(path);
}

}  // namespace

std::string web_file(const char* name, const std::string& model) {
  const std::string text = read_template(name);
  const std::filesystem::path path = or_bundled(model);
  DRIFTLESS_REQUIRE(store::kind_of(path) == store::FileKind::Safetensors, ErrorCode::Unsupported,
                    path.string(), ": the page reads safetensors alone; driftless convert first");
  task::need(run::task_of(load_model(path).checkpoint), &task::Task::solve_line,
             path.string() + ": the page", "boards on one line");
  return report::web_page(text, name, path.filename().string(), read_file(path));
}

}  // namespace driftless::cli
