#pragma once

#include <span>

#include "output/table/field.h"

namespace telltale::schemas {

// The columns of the rows of kStore.
std::span<const Field> store_columns();

}  // namespace telltale::schemas
