# SPDX-License-Identifier: Apache-2.0
# The installed package as another project meets it: installs BUILD under WORK, builds EXAMPLES there,
# runs them, and looks at what they need.
cmake_minimum_required(VERSION 3.25)
set(board "3.....5....26.....9..5....37...4....5.49....1.2.....9..9.2..617.6.4....9..1....4.")
set(solution "346819572152637984978524163719348256584962731623175498495283617867451329231796845")
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${code}\n${out}${err}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

set(flags "")
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${EXAMPLES} -B ${WORK}/build -D CMAKE_PREFIX_PATH=${WORK}/prefix
    -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_C_FLAGS=-Werror -D CMAKE_CXX_FLAGS=-Werror
    -D "CMAKE_EXE_LINKER_FLAGS=${flags}")
run(${CMAKE_COMMAND} --build ${WORK}/build)

run(${PROGRAM} quantize ${MODEL} ${WORK}/packed.safetensors --weights mxint4)
foreach(model ${MODEL} ${WORK}/packed.safetensors)
  foreach(example solve_sudoku solve_sudoku_c)
    run(${WORK}/build/${example} ${model} ${board})
    if(NOT out MATCHES "step 1" OR NOT out MATCHES "\n${solution} in [0-9]+ steps\n$")
      message(FATAL_ERROR "${example} ${model} printed\n${out}")
    endif()
  endforeach()
endforeach()

# Errors cross both interfaces as codes and one line.
foreach(example solve_sudoku solve_sudoku_c)
  execute_process(COMMAND ${WORK}/build/${example} ${WORK}/absent.safetensors ${board}
                  RESULT_VARIABLE code ERROR_VARIABLE err OUTPUT_QUIET)
  if(NOT code EQUAL 14 OR NOT err MATCHES "^${example}: [^\n]*absent.safetensors[^\n]*\n$")
    message(FATAL_ERROR "${example} on a missing model ended with ${code}: ${err}")
  endif()
endforeach()

# The C++ runtime, its C library and the loader; sanitized builds bring their own.
run(ldd ${WORK}/build/solve_sudoku)
string(REGEX MATCHALL "lib[A-Za-z0-9_+-]+\\.so" needed "${out}")
list(REMOVE_DUPLICATES needed)
list(REMOVE_ITEM needed libstdc++.so libm.so libgcc_s.so libc.so libpthread.so libasan.so libubsan.so
     libtsan.so libdl.so librt.so)
if(needed)
  message(FATAL_ERROR "programs that link driftless::engine need more than the C++ runtime: ${needed}")
endif()
file(GLOB_RECURSE headers RELATIVE ${WORK}/prefix ${WORK}/prefix/include/*)
if(NOT headers STREQUAL "include/driftless/driftless.h;include/driftless/driftless_c.h")
  message(FATAL_ERROR "installed headers: ${headers}")
endif()
