#pragma once

#include <span>

#include "output/table/field.h"

namespace telltale::schemas {

// The columns of the rows of kIsolate and of kStudy, and of the clusters of the latter.
std::span<const Field> predictor_columns();
std::span<const Field> study_columns();
std::span<const Field> study_cluster_columns();

}  // namespace telltale::schemas
