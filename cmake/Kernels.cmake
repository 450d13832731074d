# SPDX-License-Identifier: Apache-2.0
# Instruction sets, and the kernels that are compiled for each and chosen when the program runs.
# driftless_isa(ARCHITECTURE NAME [option...]): an instruction set and the compiler's options for it. Best first;
#   driftless/base/isa/ARCHITECTURE.cc says of each how to know whether a processor has it.
# driftless_kernels(MODULE FOLDER SET HEADER [SCALAR name] [OPTIONS option...]): compiles driftless/MODULE/FOLDER/NAME.cc
#   for every instruction set of this architecture that has such a file. Each exports `const SET NAME::kKernels`; the
#   list of them, compiled_kernels(), is generated. Where SCALAR names the set that runs anywhere, so are
#   available_kernels() and kernels(), which HEADER then declares: all that this processor runs, and the one in use.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(DRIFTLESS_ARCHITECTURE x86_64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(DRIFTLESS_ARCHITECTURE aarch64)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32")
  set(DRIFTLESS_ARCHITECTURE wasm32)
else()
  set(DRIFTLESS_ARCHITECTURE generic)
endif()

macro(driftless_isa ARCHITECTURE NAME)
  if(DRIFTLESS_ARCHITECTURE STREQUAL "${ARCHITECTURE}")
    list(APPEND DRIFTLESS_ISAS ${NAME})
    set(DRIFTLESS_ISA_OPTIONS_${NAME} ${ARGN})
  endif()
endmacro()

set(avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns of the undefined vectors inside its own AVX-512 headers.
  list(APPEND avx512 -Wno-uninitialized -Wno-maybe-uninitialized)
endif()
driftless_isa(x86_64 amx ${avx512} -mavx512bf16 -mavx512vnni -mamx-tile -mamx-bf16 -mamx-int8)
driftless_isa(x86_64 avx512bf16 ${avx512} -mavx512bf16)
driftless_isa(x86_64 avx512vnni ${avx512} -mavx512vnni)
driftless_isa(x86_64 avx512 ${avx512})
driftless_isa(x86_64 avxvnni -mavx2 -mfma -mavxvnni)
driftless_isa(x86_64 avx2 -mavx2 -mfma)
driftless_isa(aarch64 neon_dot -march=armv8.2-a+dotprod)
driftless_isa(aarch64 neon)
driftless_isa(wasm32 wasm_relaxed -O3 -msimd128 -mrelaxed-simd)
driftless_isa(wasm32 wasm_simd -O3 -msimd128)

# Writes the C++ file GENERATED with the list of one family, for the instruction sets that follow. SCALAR is "none" where
# a family has no set that runs anywhere.
function(driftless_kernel_list GENERATED MODULE FOLDER SET HEADER SCALAR)
  set(count 0)
  if(NOT SCALAR STREQUAL "none")
    string(CONFIGURE [[

std::span<const @SET@* const> available_kernels() noexcept {
  static const auto sets = runnable(compiled_kernels(), &@SCALAR@);
  return sets;
}

const @SET@& kernels() {
  static const @SET@& chosen = *allowed(compiled_kernels(), &@SCALAR@).front();
  return chosen;
}
]] choice @ONLY)
  endif()
  foreach(isa IN LISTS ARGN)
    if(EXISTS ${PROJECT_SOURCE_DIR}/driftless/${MODULE}/${FOLDER}/${isa}.cc)
      string(APPEND declarations "namespace ${isa} {\nextern const ${SET} kKernels;\n}\n")
      string(APPEND rows "    Candidate{&${isa}::kKernels, \"${isa}\"},\n")
      math(EXPR count "${count} + 1")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${GENERATED} @ONLY CONTENT [[
// Made by cmake/Kernels.cmake from the files of driftless/@MODULE@/@FOLDER@, best first.
#include <array>
#include <vector>

#include "driftless/@MODULE@/@HEADER@"
#include "driftless/base/isa.h"

namespace driftless::@MODULE@ {

@declarations@
using Candidate = KernelCandidate<@SET@>;

std::span<const Candidate> compiled_kernels() noexcept {
  static constexpr std::array<Candidate, @count@> kAll = {
@rows@  };
  return kAll;
}
@choice@
}  // namespace driftless::@MODULE@
]])
endfunction()

function(driftless_kernels MODULE FOLDER SET HEADER)
  cmake_parse_arguments(arg "" SCALAR OPTIONS ${ARGN})
  if(NOT arg_SCALAR)
    set(arg_SCALAR none)
  endif()
  foreach(isa IN LISTS DRIFTLESS_ISAS)
    set(file ${PROJECT_SOURCE_DIR}/driftless/${MODULE}/${FOLDER}/${isa}.cc)
    if(EXISTS ${file})
      target_sources(driftless_${MODULE} PRIVATE ${file})
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS
                                  "${DRIFTLESS_ISA_OPTIONS_${isa}};${arg_OPTIONS}")
    endif()
  endforeach()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${MODULE}_kernels.cc)
  set(family ${MODULE} ${FOLDER} ${SET} ${HEADER} ${arg_SCALAR})
  driftless_kernel_list(${generated} ${family} ${DRIFTLESS_ISAS})
  target_sources(driftless_${MODULE} PRIVATE ${generated})
  set_property(GLOBAL APPEND PROPERTY DRIFTLESS_KERNEL_FAMILIES ${MODULE})
  set_property(GLOBAL PROPERTY DRIFTLESS_KERNELS_${MODULE} ${family})
endfunction()
