// The windows of the concurrency schemes (docs/design/sampler-compiler.md).
#pragma once

namespace telltale::sampler {

// Call before the first window opens.
void prepare_windows();
// In the child of a fork: no thread of the child is inside a window.
void forget_windows();

}  // namespace telltale::sampler
