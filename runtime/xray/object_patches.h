#pragma once

// Which functions of an object are recorded, and the patching of their sleds. Guarded by the
// caller's lock; not async-signal-safe.

#include "loaded_object.h"

namespace telltale::recorder {

// Turns recording on or off for the functions that a list of globs chooses; an empty list chooses
// all. Functions that were dropped as too frequent stay off. Returns the number of functions; notes
// in the side record if some could not be patched.
int choose_and_patch(Object& object, const char* list, bool on);

// Turns recording off for the functions that were dropped.
void unpatch_dropped_in(const Object& object);

}  // namespace telltale::recorder
