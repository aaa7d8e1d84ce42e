#pragma once

// Custom and typed events. Async-signal-safe; all registers are preserved.

#include "record.h"

namespace telltale::recorder {

TELLTALE_HOOK void record_custom(const void* payload, size_t bytes);
TELLTALE_HOOK void record_typed(size_t type, const void* payload, size_t bytes);

}  // namespace telltale::recorder
