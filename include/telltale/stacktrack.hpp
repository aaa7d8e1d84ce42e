#pragma once

// StackTrack: checkpoints in a program that record each of their executions. C++17.
// clang-format off
//   TELLTALE_FILE_PROPERTY("owner=team-io");  // at namespace scope: a property of this source file
//   int main() {
//     // Records go to ./<program>_<date>_<time>_<pid>_1.tlg
//     telltale::st::sink_control::open(telltale::st::FileOptions{});
//     TELLTALE_FUNCTION();                    // records this function's entry and its exit, however it ends
//     {
//       TELLTALE_BLOCK("read the header");    // a named block
//     }
//     TELLTALE_STEP("reply sent");            // a point in time
//     const int bytes = 512;
//     TELLTALE_VALUE("bytes", bytes);         // a point in time and a value that can be streamed or formatted
//   }
// clang-format on
//
// Link with telltale::stacktrack (static; recording is inlined) or telltale::stacktrack_shared (for
// programs with instrumented shared objects). `telltale info FILE.tlg` and all other verbs read the
// result. With TELLTALE_STACKTRACK_DISABLED defined every macro expands to nothing; arguments are
// not evaluated.
//
// While no sink is open, a checkpoint is one load and one branch. While one is open, it stores 32
// bytes to its own thread's part of a mapped file, without a lock, an allocation, or a system call
// except once per chunk. Checkpoints are allowed everywhere: in signal handlers, before main, in
// destructors of statics and of threads, after fork. Values of class type are formatted by their
// own code, which may not be safe in a signal handler. docs/design/stacktrack-runtime.md has the
// rules.

#include <telltale/stacktrack_control.hpp>

#ifndef TELLTALE_STACKTRACK_DISABLED
#include <telltale/stacktrack_value.hpp>

namespace telltale::st {

// Records an entry now and an exit when this object is destroyed, also by an exception. The exit is
// recorded only if the entry was.
class Scope {
 public:
  explicit Scope(Site& site) noexcept : site_(recording() ? &site : nullptr) {
    if (site_ != nullptr) detail::hit(*site_, 0);
  }
  ~Scope() {
    // If recording has ended meanwhile, the library detects it: no second check here.
    if (site_ != nullptr) detail::hit(*site_, detail::kExit);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Site* const site_;
};

namespace detail {
struct FileProperty {
  FileProperty(const char* file, const char* text) noexcept { telltale_st_property_v1(file, text); }
};
}  // namespace detail
}  // namespace telltale::st

// Clang 22 and later call __COUNTER__ an extension, also in macros of system headers.
#if defined(__has_warning)
#if __has_warning("-Wc2y-extensions")
#define TELLTALE_ST_COUNTER_BEGIN \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wc2y-extensions\"")
#define TELLTALE_ST_COUNTER_END _Pragma("clang diagnostic pop")
#endif
#endif
#ifndef TELLTALE_ST_COUNTER_BEGIN
#define TELLTALE_ST_COUNTER_BEGIN
#define TELLTALE_ST_COUNTER_END
#endif

#define TELLTALE_ST_JOIN_(a, b) a##b
#define TELLTALE_ST_JOIN(a, b) TELLTALE_ST_JOIN_(a, b)
#define TELLTALE_ST_SCOPE(id, style, name)                                                      \
  static ::telltale::st::Site TELLTALE_ST_JOIN(telltale_st_site_, id){__FILE__, name, __LINE__, \
                                                                      style,    0,    0};       \
  const ::telltale::st::Scope TELLTALE_ST_JOIN(telltale_st_scope_,                              \
                                               id)(TELLTALE_ST_JOIN(telltale_st_site_, id))

#define TELLTALE_FUNCTION()                                                           \
  TELLTALE_ST_COUNTER_BEGIN                                                           \
  TELLTALE_ST_SCOPE(__COUNTER__, ::telltale::st::kFunctionStyle, __PRETTY_FUNCTION__) \
  TELLTALE_ST_COUNTER_END
#define TELLTALE_BLOCK(name)                                           \
  TELLTALE_ST_COUNTER_BEGIN                                            \
  TELLTALE_ST_SCOPE(__COUNTER__, ::telltale::st::kBlockStyle, "" name) \
  TELLTALE_ST_COUNTER_END
#define TELLTALE_STEP(name)                                                            \
  do {                                                                                 \
    static ::telltale::st::Site telltale_st_site{                                      \
        __FILE__, "" name, __LINE__, ::telltale::st::kStepStyle, 0, 0};                \
    if (::telltale::st::recording()) ::telltale::st::detail::hit(telltale_st_site, 0); \
  } while (false)
#define TELLTALE_VALUE(name, ...)                                        \
  do {                                                                   \
    static ::telltale::st::Site telltale_st_site{                        \
        __FILE__, "" name, __LINE__, ::telltale::st::kValueStyle, 0, 0}; \
    if (::telltale::st::recording())                                     \
      ::telltale::st::detail::hit_value(telltale_st_site, __VA_ARGS__);  \
  } while (false)
#define TELLTALE_FILE_PROPERTY(text)                                  \
  TELLTALE_ST_COUNTER_BEGIN                                           \
  static const ::telltale::st::detail::FileProperty TELLTALE_ST_JOIN( \
      telltale_st_property_, __COUNTER__)(__FILE__, "" text) TELLTALE_ST_COUNTER_END

#else
#define TELLTALE_FUNCTION() static_assert(true)
#define TELLTALE_BLOCK(name) static_assert(true)
#define TELLTALE_STEP(name) ((void)0)
// The value counts as used, but is not evaluated.
#define TELLTALE_VALUE(name, ...) \
  (static_cast<void>(false && (static_cast<void>((__VA_ARGS__)), true)))
#define TELLTALE_FILE_PROPERTY(text) static_assert(true)
#endif
