#pragma once

#include <span>

#include "output/table/field.h"

namespace telltale::schemas {

// The reports on a managed runtime: a field's members are the report's figures and tables.
std::span<const Field> runtime_reports();

}  // namespace telltale::schemas
