#include "backtrace.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace telltale::sampler {
namespace {

// What `write` writes to a descriptor.
template <typename Write>
std::string written(Write write) {
  FILE* const file = ::tmpfile();
  write(::fileno(file));
  std::string text(static_cast<size_t>(::lseek(::fileno(file), 0, SEEK_END)), '\0');
  EXPECT_EQ(::pread(::fileno(file), text.data(), text.size(), 0),
            static_cast<ssize_t>(text.size()));
  ::fclose(file);
  return text;
}

TEST(Backtrace, FramesAreThoseOfTheCLibrary) {
  prepare_backtrace();
  std::vector<void*> addresses(100);
  addresses.resize(static_cast<size_t>(::backtrace(addresses.data(), 100)));
  ASSERT_GT(addresses.size(), 3U);
  for (const char* const name : {"qsort", "malloc", "strlen", "exit", "environ", "stdout", "log"}) {
    auto* const begin = static_cast<char*>(::dlsym(RTLD_DEFAULT, name));
    for (const int more : {-1, 0, 1, 7, 40, 5000}) addresses.push_back(begin + more);
  }
  int local = 0;
  for (const void* const place :
       {static_cast<const void*>(&local), static_cast<const void*>("text")})
    addresses.push_back(const_cast<void*>(place));
  addresses.push_back(nullptr);
  addresses.push_back(reinterpret_cast<void*>(16));
  for (void* const address : addresses) {
    EXPECT_EQ(written([&](int file) {
                Writer out(file);
                put_frame(out, address, true);
              }),
              written([&](int file) { ::backtrace_symbols_fd(&address, 1, file); }));
  }
}

}  // namespace
}  // namespace telltale::sampler
