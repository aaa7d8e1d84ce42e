#pragma once

namespace telltale::testing {

// The root of the source tree that the test was built from: an absolute path without a trailing
// slash. Not a macro, because a path on every compiler's command line would keep the objects of one
// checkout from being used in another (ccache).
extern const char* const kSourceFolder;

}  // namespace telltale::testing
