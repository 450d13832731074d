// SPDX-License-Identifier: Apache-2.0
// driftless info: what this build is and what it runs on.
#include <cstdio>
#include <string>

#include "driftless/base/machine.h"
#include "driftless/cli/command.h"
#include "driftless/quant/kernels/kernel_set.h"

namespace driftless::cli {

void add_info_command(CLI::App& verb) {
  show_example(verb, "DRIFTLESS_ISA=scalar driftless info");
  verb.callback([] {
    const std::string chosen(quant::kernels().name);
    std::string available;
    for (const quant::KernelSet* set : quant::available_kernels()) {
      available += (available.empty() ? "" : ", ") + std::string(set->name);
    }
    std::printf("driftless   %s\n", DRIFTLESS_VERSION);
    std::printf("compiler    %s\n", compiler_name().c_str());
    std::printf("processor   %s\n", processor_name().c_str());
    std::printf("kernels     %s (available: %s; set DRIFTLESS_ISA to choose)\n", chosen.c_str(),
                available.c_str());
  });
}

}  // namespace driftless::cli
