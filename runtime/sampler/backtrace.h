// Prints backtraces in the format of glibc's backtrace_symbols.
#pragma once

#include "writer.h"

namespace telltale::sampler {

// Loads the unwinder's library, which a signal handler could not do.
void prepare_backtrace();

// Prints a return address as MODULE(SYMBOL+0xOFFSET)[0xADDRESS], like backtrace_symbols_fd, but
// without taking a lock; only exported symbols are known. Without `with_place`, and before glibc
// 2.35, which lacks _dl_find_object, only the address. Async-signal-safe.
void put_frame(Writer& out, void* address, bool with_place);

}  // namespace telltale::sampler
