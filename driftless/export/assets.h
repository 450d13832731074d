// SPDX-License-Identifier: Apache-2.0
// The files of driftless/export/c as the build put them into the program. "reasoner" and "REASONER"
// stand for the model's name in them, comments of the form /*@what@*/ for what the exporter knows.
#pragma once

#include <string_view>

namespace driftless::exporter {

std::string_view c_header();
std::string_view c_parts();      ///< what every model has, up to the mixers
std::string_view c_attention();  ///< after the rope table
std::string_view c_recursion();  ///< after the model's data
std::string_view c_kernels_dsp();
std::string_view c_kernels_mve();
std::string_view c_kernels_riscv();

}  // namespace driftless::exporter
