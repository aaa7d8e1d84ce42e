#pragma once

namespace telltale::recorder {

// Measures what recording a call costs, and writes it to the side record: calls without a function,
// into a buffer of their own, by the calling thread. The least of several rounds, with everything
// in the caches: a call in the program costs no less. Does nothing with filters of depth and
// duration, whose cost is that of the calls that they leave out.
// Call with all signals blocked, after the hooks are chosen. Takes some 20 us. Async-signal-safe.
void measure_call_cost();

}  // namespace telltale::recorder
