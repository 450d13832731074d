# SPDX-License-Identifier: Apache-2.0
# Cross-builds for WebAssembly with Debian's clang-16, lld-16 and wasi-libc. libc++ there comes without threads, files
# and exceptions: web/wasi brings what of them the library needs.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_CXX_COMPILER clang++-16)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
# Any of LLVM's archivers knows the format; GNU's does not.
find_program(DRIFTLESS_LLVM_AR NAMES llvm-ar-16 llvm-ar-14 llvm-ar REQUIRED)
find_program(DRIFTLESS_LLVM_RANLIB NAMES llvm-ranlib-16 llvm-ranlib-14 llvm-ranlib REQUIRED)
set(CMAKE_AR ${DRIFTLESS_LLVM_AR})
set(CMAKE_RANLIB ${DRIFTLESS_LLVM_RANLIB})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_EXECUTABLE_SUFFIX .wasm)

set(web_folder ${CMAKE_CURRENT_LIST_DIR}/../web)
set(libcxx /usr/lib/llvm-16/include/wasm32-wasi/c++/v1)
# The switches of libc++'s own __config_site, but for the one that hides std::filesystem: paths are types of our
# headers, while what would open files is not linked.
set(site "-D_LIBCPP___CONFIG_SITE -D_LIBCPP_ABI_VERSION=2 -D_LIBCPP_ABI_NAMESPACE=__2 -D_LIBCPP_HAS_NO_THREADS")
string(APPEND site " -D_LIBCPP_HAS_MUSL_LIBC -D_LIBCPP_HAS_NO_VENDOR_AVAILABILITY_ANNOTATIONS")
string(APPEND site " -D_LIBCPP_ENABLE_ASSERTIONS_DEFAULT=0")
set(CMAKE_CXX_FLAGS_INIT
  "-fwasm-exceptions -nostdinc++ -isystem ${web_folder}/wasi/std -isystem ${libcxx} ${site}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nodefaultlibs -mexec-model=reactor -Wl,--gc-sections")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
