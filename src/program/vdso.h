#pragma once

#include <elfutils/libdwfl.h>

#include "program/core_file.h"

namespace telltale {

// Adds the kernel's library (vDSO) to the modules of `dwfl`, if the core file has it. It is in no
// file, and its unwind tables are needed to find the callers of functions such as clock_gettime().
void report_vdso(const CoreFile& core, Dwfl* dwfl);

}  // namespace telltale
