// SPDX-License-Identifier: Apache-2.0
// The page that thinks in a browser: its template (web/page, built with the WebAssembly modules
// inside) and a model, as one file.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace driftless::report {

/// The template with the model in it. The name is shown, never taken for markup. Throws BadFile,
/// starting with `where`, for a template without its places.
std::string web_page(std::string_view page_template, const std::string& where,
                     std::string_view model_name, std::span<const std::byte> model);

}  // namespace driftless::report
