#include "inline_definition.h"

extern inline int twice(int number);
