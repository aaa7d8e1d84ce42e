// The units that are loaded.
#pragma once

namespace telltale::sampler {

// Reports every unit that has not reported; false if somebody did so before. Async-signal-safe.
bool report_crash();

}  // namespace telltale::sampler
