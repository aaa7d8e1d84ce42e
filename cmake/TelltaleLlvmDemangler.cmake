# LLVM's C++ demangler is one object of the static libc++abi. It is linked alone, under names of our own: its
# __cxa_demangle would collide with libstdc++'s, and our allocator gives its memory a limit (src/program/llvm_demangler.h).
find_library(TELLTALE_LIBCXXABI NAMES libc++abi.a REQUIRED
             PATH_SUFFIXES llvm-22/lib llvm-21/lib llvm-20/lib llvm-19/lib PATHS /usr/lib)
find_program(TELLTALE_OBJCOPY NAMES ${CMAKE_OBJCOPY} objcopy llvm-objcopy REQUIRED)
set(TELLTALE_LLVM_DEMANGLER ${PROJECT_BINARY_DIR}/llvm_demangler/cxa_demangle.cpp.o)
set(symbols)
foreach(symbol IN ITEMS __cxa_demangle malloc realloc free abort_message)
  list(APPEND symbols --redefine-sym ${symbol}=telltale_llvm_${symbol})
endforeach()
add_custom_command(OUTPUT ${TELLTALE_LLVM_DEMANGLER}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/llvm_demangler
  COMMAND ${CMAKE_COMMAND} -E chdir ${PROJECT_BINARY_DIR}/llvm_demangler
          ${CMAKE_AR} x ${TELLTALE_LIBCXXABI} cxa_demangle.cpp.o
  COMMAND ${TELLTALE_OBJCOPY} ${symbols} ${TELLTALE_LLVM_DEMANGLER}
  DEPENDS ${TELLTALE_LIBCXXABI} VERBATIM)
set_source_files_properties(${TELLTALE_LLVM_DEMANGLER} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
