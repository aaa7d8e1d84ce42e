#pragma once

#include "base/error.h"
#include "program/elf_image.h"

namespace telltale {

// How a program or shared object was instrumented; read from the file, which is not run.
struct RecordingHooks {
  bool xray = false;                // it has sleds of clang's -fxray-instrument
  bool xray_runtime = false;        // clang's XRay runtime is linked: it was built with that option
  bool function_calls = false;      // built with gcc's or clang's -finstrument-functions
  bool own_function_hooks = false;  // it defines the hooks of that option itself
  bool recorder = false;            // telltale's recorder is linked into it
  bool loads_libraries = false;     // dynamically linked: LD_PRELOAD reaches it
};

// Errors: only those of ElfImage::read; a file without symbols has no hooks.
RecordingHooks find_recording_hooks(const ElfImage& image);
// The same for a file. Errors: io, bad_magic (for example a script), those of ElfImage::read.
Result<RecordingHooks> find_recording_hooks(const std::string& path);

}  // namespace telltale
