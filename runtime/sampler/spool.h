// Reports that wait in a folder until `telltale send` sends them (docs/formats/collect.md, "The
// spool").
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "formats/sampler/sampling_wish.h"
#include "output_path.h"
#include "writer.h"

namespace telltale::sampler {

// Whether reports go to this folder: it exists, is not full, and the user's file of consent does
// not say off. Remembers what the report says of the run, and writes the name of a new file in it,
// with
// "%p" for the process, to `pattern` of kPathBytes. `folder` is TELLTALE_COLLECT, or null; what is
// no absolute path means no.
bool choose_spool(const char* folder, char* pattern);
// Why not, for people; null: no folder was given.
const char* spool_refusal();
void refuse_spool(const char* why);
// How runs that report to the spool are sampled: as its file "sampling" says of the program, else
// as the server asked for, else at the usual sparsity. Call after choose_spool().
SamplingWish spool_wish();

// The subreports that say what the run is and how it ended. Async-signal-safe. `seed` may be null;
// `signal` 0: the program ended with `status`.
void put_run(Writer& out, const char* sparsity, const uint64_t* seed);
void put_outcome(Writer& out, int signal, int status);
// The name of the run's path file beside the report, with "%p" for the process; null: reports do
// not go to a spool.
const char* spooled_paths_pattern();
// Gives a complete report its final name. Async-signal-safe.
void finish_spooled(const char* path);

}  // namespace telltale::sampler
