#pragma once

namespace telltale::testing {

// The folder of the sources that the test was built from: an absolute path without a slash at its
// end. It is no macro, since a path on every compiler's command line would keep the objects of one
// checkout from being used in another (ccache).
extern const char* const kSourceFolder;

}  // namespace telltale::testing
