# SPDX-License-Identifier: Apache-2.0
# Run as a script: writes OUT, a C++ source whose driftless::NAMESPACE::FUNCTION() returns the text of
# FILES, as driftless/MODULE/assets.h declares it. Each file becomes one raw string literal.
set(parts "")
foreach(file IN LISTS FILES)
  file(READ ${file} text)
  string(FIND "${text}" ")driftless\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${file}: holds the end of a raw string literal")
  endif()
  string(APPEND parts "R\"driftless(${text}\n)driftless\"\n")
endforeach()
file(WRITE ${OUT} "#include \"driftless/${MODULE}/assets.h\"
namespace driftless::${NAMESPACE} {
std::string_view ${FUNCTION}() {
  return
${parts};
}
}  // namespace driftless::${NAMESPACE}
")
