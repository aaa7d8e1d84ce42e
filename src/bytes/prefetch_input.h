#pragma once

#include <cstddef>
#include <cstdint>

namespace telltale {

// How far before its use a byte of a mapped file is requested. Processors prefetch up to the end of
// a page only, and decoders of 2 GB/s wait for the first bytes of each: up to half of the time of a
// file that is in the page cache. More than 2 KiB gains nothing.
constexpr size_t kPrefetchAhead = 2048;

// Requests the bytes that a decoder at `at` soon needs. They may be outside of the file: without
// effect then, as for a page that is not mapped yet.
[[gnu::always_inline]] inline void prefetch_input(const void* at) {
  __builtin_prefetch(static_cast<const char*>(at) + kPrefetchAhead);
}

}  // namespace telltale
