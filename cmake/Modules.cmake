# SPDX-License-Identifier: Apache-2.0
# driftless_module(NAME): the library of driftless/NAME, linked to what cmake/layers.txt allows it.
# driftless_optional(NAME FILE TARGET): adds driftless/NAME/optional/FILE.cc and links TARGET where that
#   exists, otherwise FILE_stub.cc, which says how to get it.
# driftless_tests(NAME [LABELS label...]): the test program of tests/NAME. Tests run in the root of the
#   source tree, so that paths compiled into them are relative and a compiler cache serves every clone.
#
# Compiling is most of what the tests cost. So test units are not optimized, and debug builds not at all, but for the
# modules below, whose loops over numbers would then cost more than they save. And test units, in the dev preset all
# units, are compiled twelve at a time, since headers are most of what there is to read: names in the anonymous
# namespaces of a module differ. Each unit of a module by itself is what the release preset compiles.
set(DRIFTLESS_NUMERIC_MODULES base formats quant integer task loop native simulate bench lab parity)

set(DRIFTLESS_LAYERS_FILE ${CMAKE_CURRENT_LIST_DIR}/layers.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${DRIFTLESS_LAYERS_FILE})

# Sets OUT to the modules that NAME may use.
function(driftless_allowed_modules NAME OUT)
  file(STRINGS ${DRIFTLESS_LAYERS_FILE} lines REGEX "^${NAME}:")
  if(NOT lines)
    message(FATAL_ERROR "cmake/layers.txt has no line for module '${NAME}'")
  endif()
  string(REGEX REPLACE "^${NAME}: *" "" allowed "${lines}")
  string(REPLACE " " ";" allowed "${allowed}")
  set(${OUT} ${allowed} PARENT_SCOPE)
endfunction()

function(driftless_module NAME)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/driftless/${NAME}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/isa/")
  list(FILTER sources EXCLUDE REGEX "/optional/")
  add_library(driftless_${NAME} STATIC ${sources})
  if(NAME IN_LIST DRIFTLESS_NUMERIC_MODULES)
    target_compile_options(driftless_${NAME} PRIVATE $<$<CONFIG:Debug>:-O1>)
  endif()
  set_target_properties(driftless_${NAME} PROPERTIES UNITY_BUILD_CODE_BEFORE_INCLUDE
                        "// NOLINTNEXTLINE(bugprone-suspicious-include)")
  driftless_allowed_modules(${NAME} allowed)
  if(NOT DRIFTLESS_LAB)
    list(REMOVE_ITEM allowed lab)
  endif()
  list(TRANSFORM allowed PREPEND driftless_)
  # Headers that others take from lab are free of torch, so torch's flags stay out of them.
  list(TRANSFORM allowed REPLACE "^driftless_lab$" "$<LINK_ONLY:driftless_lab>")
  target_link_libraries(driftless_${NAME} PUBLIC driftless_options ${allowed})
endfunction()

function(driftless_optional NAME FILE TARGET)
  set(folder ${PROJECT_SOURCE_DIR}/driftless/${NAME}/optional)
  if(TARGET ${TARGET})
    target_sources(driftless_${NAME} PRIVATE ${folder}/${FILE}.cc)
    target_link_libraries(driftless_${NAME} PRIVATE ${TARGET})
  else()
    message(STATUS "no ${TARGET}: driftless/${NAME} gets a stub for ${FILE}")
    target_sources(driftless_${NAME} PRIVATE ${folder}/${FILE}_stub.cc)
  endif()
endfunction()

function(driftless_tests NAME)
  cmake_parse_arguments(arg "" "" LABELS ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${NAME}/*_test.cc)
  add_executable(${NAME}_tests ${sources})
  set_target_properties(${NAME}_tests PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  target_link_libraries(${NAME}_tests PRIVATE driftless_${NAME} GTest::gtest_main)
  if(NAME IN_LIST DRIFTLESS_NUMERIC_MODULES)
    target_compile_options(${NAME}_tests PRIVATE -O1)
  else()
    target_compile_options(${NAME}_tests PRIVATE -O0)
  endif()
  gtest_discover_tests(${NAME}_tests TEST_PREFIX "${NAME}." NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
                       WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTIES LABELS "${arg_LABELS}")
endfunction()

# driftless_embed(MODULE NAMESPACE FUNCTION FILE...): a source of the module that defines the function of its assets.h
# of that name, which returns the text of the files, one after the other.
function(driftless_embed MODULE NAMESPACE FUNCTION)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${FUNCTION}.cc)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -D MODULE=${MODULE} -D NAMESPACE=${NAMESPACE} -D FUNCTION=${FUNCTION} "-DFILES=${ARGN}"
            -D OUT=${source} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
    VERBATIM)
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-Wno-overlength-strings")
  target_sources(driftless_${MODULE} PRIVATE ${source})
endfunction()
