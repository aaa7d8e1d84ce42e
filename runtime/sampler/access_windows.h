// The concurrency schemes' windows (docs/design/sampler-compiler.md).
#pragma once

namespace telltale::sampler {

// Before the first of them.
void prepare_windows();
// In the child of a fork: whoever was inside a window is not here.
void forget_windows();

}  // namespace telltale::sampler
