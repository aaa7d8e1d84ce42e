#pragma once

namespace telltale::cli {

// Occupies the descriptors 0 to 2 that the caller has closed, so that no file gets one of them:
// standard output and messages would go into it. To read or write them fails as before; programs
// that telltale starts have them closed.
void keep_standard_descriptors();

}  // namespace telltale::cli
