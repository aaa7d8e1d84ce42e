#pragma once

namespace telltale::recorder {

// In a forked child, before its first event: a recording of its own, or none. Call with all signals
// blocked. Async-signal-safe.
void continue_in_child();

}  // namespace telltale::recorder
