#include "above_standard.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>

#include "open_file.h"

namespace telltale::descriptors {
namespace {

constexpr const char* kFile = "/dev/zero";

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) >= 0; }

// What another thread does just before the file is opened, and opens it.
long open_after(const std::function<void()>& other) {
  const auto call = [&](long number, auto... arguments) {
    if constexpr (sizeof...(arguments) == 4) {
      const auto is_file = [](auto, const char* path, auto, auto) {
        return std::string(path) == kFile;
      };
      if (number == SYS_openat && is_file(arguments...)) other();
    }
    const long answer = ::syscall(number, arguments...);
    return answer < 0 ? -static_cast<long>(errno) : answer;
  };
  return open_above_standard(call, kFile, O_RDWR, 0);
}

// Runs in a child, whose standard descriptors are closed, and returns whether it was true.
bool without_standard(const std::function<bool()>& check) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (int place = 0; place < kStandardDescriptors; ++place) ::close(place);
    ::_exit(check() ? 0 : 1);
  }
  int status = 1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

bool all_closed() { return !is_open(0) && !is_open(1) && !is_open(2); }

TEST(AboveStandard, ClosedDescriptorsStayClosed) {
  EXPECT_TRUE(without_standard([] {
    bool writes = false;
    const long file = open_after(
        [&] { writes = ::write(1, "x", 1) >= 0 || errno != EBADF || ::write(2, "x", 1) >= 0; });
    return file >= kStandardDescriptors && !writes && all_closed() &&
           ::fcntl(static_cast<int>(file), F_GETFD) == FD_CLOEXEC;
  }));
}

TEST(AboveStandard, OpenDescriptorsStayOpen) {
  EXPECT_TRUE(without_standard([] {
    const int output = ::open("/dev/null", O_WRONLY);  // 0
    const long file = open_after([] {});
    return output == 0 && is_open(0) && !is_open(1) && !is_open(2) && file >= kStandardDescriptors;
  }));
}

TEST(AboveStandard, OtherThreadsMayCloseDescriptors) {
  EXPECT_TRUE(without_standard([] {
    const long file = open_after([] { ::close(1); });
    return file >= kStandardDescriptors && all_closed();
  }));
}

TEST(AboveStandard, OtherThreadsMayReplaceDescriptors) {
  EXPECT_TRUE(without_standard([] {
    const int output = ::open("/dev/null", O_WRONLY);  // 0
    const long file = open_after([&] { ::dup2(output, 1); });
    return file >= kStandardDescriptors && is_open(1) && !is_open(2);
  }));
}

TEST(AboveStandard, FailuresAreTold) {
  EXPECT_TRUE(without_standard([] {
    errno = 0;
    const int opened = open_file(kFile, O_RDONLY);
    const bool kept = errno == 0;
    return opened >= kStandardDescriptors && kept && open_file("/no such", O_RDONLY) == -1 &&
           errno == ENOENT && all_closed();
  }));
}

}  // namespace
}  // namespace telltale::descriptors
