// The interface between instrumented object files and the runtime as C++ declarations; abi.inc
// defines it.
#pragma once

#include <stdint.h>

namespace telltale::sampler {

enum Random : uint32_t { kOnline = 0, kOffline = 1, kFixed = 2 };
enum UnitFlags : uint32_t { kSamples = 1, kThreads = 2, kTraces = 4 };
enum GroupFlags : uint32_t { kSignedValues = 1, kManyThreads = 2 };
// How a bound is printed.
enum BoundKind : uint8_t { kSigned = 1, kUnsigned = 2, kPointer = 3 };
using Signature = uint8_t[16];

#define ABI_CONSTANT(type, name, value) inline constexpr type name = value;
#define ABI_STRUCT(name) struct name {
#define ABI_FIELD(type, name) type name;
#define ABI_STRUCT_END \
  }                    \
  ;
#include "abi.inc"

using ThreadCountdowns = RegionCountdown[kStages + 1];

}  // namespace telltale::sampler

extern "C" {
#define ABI_VARIABLE(type, name) extern type name;
#define ABI_THREAD_VARIABLE(type, name) \
  extern thread_local type name __attribute__((tls_model("initial-exec")));
#define ABI_FUNCTION(result, name, parameters) result name parameters;
#include "abi.inc"
}
