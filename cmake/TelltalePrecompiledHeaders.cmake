# Precompiles the headers of the standard library and of fmt that many sources include: a quarter of the time of a file
# (docs/design/build-and-test.md, "What a build costs"). For g++ only: in clang's builds a source that lacks an include does
# not compile, and clang-tidy reads what is written. Headers of ours are not precompiled: a change to one compiles only what
# includes it.
option(TELLTALE_PRECOMPILE "precompile headers of the standard library (g++)" OFF)
if(TELLTALE_PRECOMPILE)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "TELLTALE_PRECOMPILE is for g++")
  endif()
  # g++ 12 reports this one for std::string once it comes from a precompiled header.
  target_compile_options(telltale_options INTERFACE -Wno-stringop-overread)
endif()
set(telltale_common_headers
  <fmt/format.h> <algorithm> <array> <bit> <charconv> <cmath> <cstdint> <cstring> <expected> <filesystem> <functional>
  <limits> <map> <memory> <optional> <set> <span> <string> <string_view> <tuple> <unordered_map> <utility> <variant> <vector>)

# ccache compiles sources with a precompiled header only if it may trust that header's macros and time.
if(TELLTALE_PRECOMPILE AND CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$")
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

# telltale_precompile(TARGET FIRST [HEADERS]): the target uses the precompiled headers of FIRST, which is a target of the
# same kind, because programs and libraries are not compiled with the same options. FIRST itself makes them, with HEADERS.
function(telltale_precompile target first)
  if(NOT TELLTALE_PRECOMPILE)
    return()
  endif()
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${telltale_common_headers} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()
