// SPDX-License-Identifier: Apache-2.0
// The files of driftless/report/page, and the plotting library, as the build put them into the
// program.
#pragma once

#include <string_view>

namespace driftless::report {

std::string_view page_template();  ///< HTML with places "@NAME@" to fill
std::string_view page_style();     ///< CSS
std::string_view page_script();    ///< JavaScript that draws the page from its data

/// d3, minified. Throws Unsupported in a build that did not find it; the message says how to get
/// it.
std::string_view plot_library();

}  // namespace driftless::report
