#pragma once

// The XRay recorder's C interface (runtime/xray). A program does not need it: the linked or
// preloaded recorder is controlled by the environment variable TELLTALE_XRAY. Options and files:
// docs/formats/xray-recorder.md. C and C++; link with telltale::xray_recorder.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TELLTALE_XRAY_API __attribute__((visibility("default")))
#else
#define TELLTALE_XRAY_API
#endif

// Starts recording with options as in TELLTALE_XRAY (null: all defaults), and patches the functions
// that they select. 0: recording. -1: invalid options (one line on standard error says which). -2:
// already recording, or a system call failed. Not async-signal-safe; may be called while other
// threads run.
TELLTALE_XRAY_API int telltale_xray_start(const char* options);

// Removes all patches and releases the unused part of the file. Events in progress in other threads
// are still recorded. A stopped recording cannot be resumed; start begins a new one. Not
// async-signal-safe.
TELLTALE_XRAY_API void telltale_xray_stop(void);

// 1 while recording.
TELLTALE_XRAY_API int telltale_xray_is_recording(void);

// Writes the recorded events to a file of their own and returns the number of bytes, or -1 (errno
// is unchanged): in snapshot mode the ring, in the other modes all buffers as they are. `path`
// null: the next name after the pattern of `file=`. An existing file is not overwritten.
// Async-signal-safe.
TELLTALE_XRAY_API int64_t telltale_xray_snapshot(const char* path);

// Finds objects that were loaded without the recorder's knowledge and patches them. Needed only if
// the side record says that the loader could not be watched. Not async-signal-safe.
TELLTALE_XRAY_API void telltale_xray_scan_objects(void);

// Patches (1) or unpatches (0) the functions whose plain or demangled name matches `glob`, and
// returns their number. Not async-signal-safe; may be called while other threads run.
TELLTALE_XRAY_API int telltale_xray_patch(const char* glob, int on);

// Records a custom event of `bytes` bytes, with or without XRay in the calling function.
// Async-signal-safe.
TELLTALE_XRAY_API void telltale_xray_event(const void* payload, size_t bytes);

// Records a typed event (FDR version 5; counted as lost in version 1). Async-signal-safe.
TELLTALE_XRAY_API void telltale_xray_typed_event(uint16_t type, const void* payload, size_t bytes);

// Events lost or left out so far, exactly as in the side record.
struct telltale_xray_losses {
  uint64_t overwritten;  // events in ring buffers that were reused
  uint64_t no_space;     // events for which there was no buffer
  uint64_t reentrant;    // events inside the recorder itself
  uint64_t too_large;    // custom and typed events that fit no buffer or could not be read
  uint64_t left_out;     // events that a filter left out
};
TELLTALE_XRAY_API void telltale_xray_get_losses(struct telltale_xray_losses* losses);

// The trace's path: a zero-terminated text with static lifetime, empty while there is none.
TELLTALE_XRAY_API const char* telltale_xray_file(void);

#ifdef __cplusplus
}
#endif
