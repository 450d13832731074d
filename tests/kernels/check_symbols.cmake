# SPDX-License-Identifier: Apache-2.0
# Fails when an object compiled for one instruction set defines a weak symbol: the linker could give
# it to code that runs on processors without that instruction set.
cmake_minimum_required(VERSION 3.25)
find_program(NM nm REQUIRED)
set(checked 0)
foreach(object IN LISTS OBJECTS)
  if(NOT object MATCHES "/isa/(avx|amx|neon)")
    continue()
  endif()
  execute_process(COMMAND ${NM} --demangle --defined-only --extern-only ${object}
                  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  # A pointer to the exception personality is data, the same for every instruction set.
  string(REGEX REPLACE "[0-9a-f]+ V DW\\.ref\\.__gxx_personality_v0\n" "" symbols "${symbols}")
  string(STRIP "${symbols}" symbols)
  if(NOT symbols MATCHES "^[0-9a-f]+ [RDB] driftless::[a-z]+::[a-z0-9_]+::kKernels$")
    message(SEND_ERROR "${object} exports more than its kernel set:\n${symbols}")
  endif()
  math(EXPR checked "${checked} + 1")
endforeach()
if(checked EQUAL 0)
  message(FATAL_ERROR "no kernel objects found among: ${OBJECTS}")
endif()
message(STATUS "${checked} kernel objects export one symbol each")
