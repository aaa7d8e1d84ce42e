#pragma once

#include <elfutils/libdwfl.h>

#include "program/core_file.h"

namespace telltale {

// Adds the kernel's library (vDSO) to the modules of `dwfl`, if the core file has it: it is in no
// file, and its unwind tables lead to who asks for the time.
void report_vdso(const CoreFile& core, Dwfl* dwfl);

}  // namespace telltale
