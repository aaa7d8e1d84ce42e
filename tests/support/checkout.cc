#include "support/checkout.h"

namespace telltale::testing {

const char* const kSourceFolder = TELLTALE_SOURCE_DIR;

}  // namespace telltale::testing
