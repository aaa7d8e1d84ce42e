#pragma once

namespace telltale::recorder {

// With the option `control`, starts the thread that answers `telltale control` on a socket of this
// process, unless it runs. Not in a program that has more privileges than its caller. Not
// async-signal-safe.
void start_control();

}  // namespace telltale::recorder
