// Stacks in the words of glibc's backtrace_symbols.
#pragma once

#include "writer.h"

namespace telltale::sampler {

// Loads what unwinding needs, which a signal's handler could not.
void prepare_backtrace();

// A line for one return address: MODULE(SYMBOL+0xOFFSET)[0xADDRESS], like backtrace_symbols_fd, but
// without a lock: symbols are those that the module exports. Async-signal-safe. Before glibc 2.35,
// which has no _dl_find_object, or not `with_place`: the address alone.
void put_frame(Writer& out, void* address, bool with_place);

}  // namespace telltale::sampler
