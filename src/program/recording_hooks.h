#pragma once

#include "base/error.h"
#include "program/elf_image.h"

namespace telltale {

// How a program or shared object was built to be watched; read from the file, which is not run.
struct RecordingHooks {
  bool xray = false;             // clang's -fxray-instrument left sleds
  bool xray_runtime = false;     // clang's XRay runtime is linked: it was built with that option
  bool function_calls = false;   // gcc's and clang's -finstrument-functions: asks for hooks
  bool loads_libraries = false;  // dynamically linked: LD_PRELOAD reaches it
};

// Errors: none beyond what ElfImage::read has found; a file without symbols has no hooks.
RecordingHooks find_recording_hooks(const ElfImage& image);
// The same for a file. Errors: io, bad_magic (a script, say), what ElfImage::read says.
Result<RecordingHooks> find_recording_hooks(const std::string& path);

}  // namespace telltale
