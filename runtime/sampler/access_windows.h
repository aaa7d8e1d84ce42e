// The windows of the concurrency schemes (docs/design/sampler-compiler.md).
#pragma once

namespace telltale::sampler {

// Call before the first window opens.
void prepare_windows();
// Forgets open windows. For the child of a fork, in which no thread is inside one.
void forget_windows();

}  // namespace telltale::sampler
