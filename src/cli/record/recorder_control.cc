#include "cli/record/recorder_control.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "cli/record/proc_text.h"
#include "formats/xray/wire.h"

namespace telltale::cli {
namespace {

constexpr time_t kPatienceSeconds = 30;
// A recorder listens some milliseconds after its program starts, later on a busy machine.
constexpr auto kStartPatience = std::chrono::seconds(2);
constexpr auto kStartPause = std::chrono::milliseconds(10);

std::unexpected<Error> control_error(int64_t pid, const std::string& what) {
  return std::unexpected(
      Error{Error::Cause::io, {}, {}, fmt::format("process {} {}", pid, what), {}});
}

// A connection to an abstract socket; closed with the object.
class ControlSocket {
 public:
  ControlSocket() : socket_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {}
  ControlSocket(ControlSocket&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket() {
    if (socket_ >= 0) ::close(socket_);
  }

  // Whether the process `pid` listens at this name. Anybody may take a name: the kernel says who
  // did.
  bool connect(const std::string& name, int64_t pid) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (name.size() + 1 > sizeof(address.sun_path)) return false;
    std::ranges::copy(name, address.sun_path + 1);
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    const timeval patience{kPatienceSeconds, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), bytes) != 0) return false;
    ucred peer = {};
    socklen_t peer_bytes = sizeof(peer);
    return ::getsockopt(socket_, SOL_SOCKET, SO_PEERCRED, &peer, &peer_bytes) == 0 &&
           peer.pid == pid;
  }
  // Empty: no answer. A recorder that refuses whoever asks does not wait for the request.
  std::string ask(const std::string& message) {
    [[maybe_unused]] const ssize_t sent =
        ::send(socket_, message.data(), message.size(), MSG_NOSIGNAL);
    std::string answer(xray::kMostControlBytes, '\0');
    const ssize_t bytes = ::recv(socket_, answer.data(), answer.size(), 0);
    answer.resize(bytes < 0 ? 0 : static_cast<size_t>(bytes));
    return answer;
  }

 private:
  int socket_;
};

// Takes the first line off `text`, without its end.
std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// The abstract names that the recorder of `pid` may listen at.
std::vector<std::string> control_names(int64_t pid) {
  const std::string begin = fmt::format("@{}{}-", xray::kControlName, pid);
  std::vector<std::string> names;
  const std::string sockets = read_text("/proc/net/unix");
  for (std::string_view rest = sockets; !rest.empty();) {
    const std::string_view line = take_line(rest);
    const size_t at = line.find(begin);
    if (at == std::string_view::npos) continue;
    std::string name(line.substr(at + 1));
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

// The recorder's options in the environment with which a process was started; nothing: no such
// variable.
std::optional<std::string> recorder_options(int64_t pid) {
  const std::string environment = '\0' + read_text(fmt::format("/proc/{}/environ", pid));
  const std::string variable("\0TELLTALE_XRAY=", 15);
  const size_t found = environment.find(variable);
  if (found == std::string::npos) return std::nullopt;
  const size_t begin = found + variable.size();
  return environment.substr(begin, environment.find('\0', begin) - begin);
}

bool has_control(const std::optional<std::string>& options) {
  return options && fmt::format(",{},", *options).contains(",control=on,");
}

// Whether execve() is starting a program in the process, which has neither a command line nor an
// environment until it is ready.
bool is_starting(int64_t pid) {
  return read_text(fmt::format("/proc/{}/environ", pid)).empty() &&
         read_text(fmt::format("/proc/{}/cmdline", pid)).empty();
}

// Why nobody listens.
std::string why_no_socket(int64_t pid) {
  const std::string folder = fmt::format("/proc/{}/", pid);
  struct stat status = {};
  if (::stat(folder.c_str(), &status) == 0 && ::geteuid() != 0 && status.st_uid != ::geteuid())
    return "belongs to another user";
  const std::optional<std::string> options = recorder_options(pid);
  if (has_control(options)) {
    return "carries the XRay recorder with its option control, but does not listen: it has not "
           "started yet, is a child that is not recorded, or has more rights than its caller";
  }
  if (options || read_text(folder + "maps").contains("libtelltale_xray.so")) {
    return "carries the XRay recorder, but without its option control; start it with `telltale run "
           "--control`";
  }
  return "carries no XRay recorder";
}

bool is_stopped(int64_t pid) {
  const std::string text = read_text(fmt::format("/proc/{}/stat", pid));
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return false;
  return text[name_end + 2] == 'T' || text[name_end + 2] == 't';
}

uint64_t number_in(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

struct ControlAnswer {
  std::optional<unsigned> version;  // nothing: no answer of a recorder
  bool done = false;
  std::string reason;  // if it was refused
  RecorderStatus status;
};

ControlAnswer parse_answer(std::string_view text) {
  ControlAnswer answer;
  const std::string_view mark = xray::kControlMark;
  const std::string_view first = take_line(text);
  if (!first.starts_with(mark)) return answer;
  answer.version = static_cast<unsigned>(number_in(first.substr(mark.size())));
  if (answer.version != xray::kControlVersion) return answer;
  answer.done = take_line(text) == "ok";
  RecorderStatus& status = answer.status;
  const std::array<std::pair<std::string_view, std::string*>, 6> texts = {
      {{"reason", &answer.reason},
       {"state", &status.state},
       {"mode", &status.mode},
       {"file", &status.file},
       {"snapshot", &status.snapshot},
       {"functions", &status.functions}}};
  const std::array<std::pair<std::string_view, uint64_t*>, 6> numbers = {
      {{"part", &status.part},
       {"bytes", &status.bytes},
       {"lost", &status.lost},
       {"overwritten", &status.overwritten},
       {"min_ns", &status.min_ns},
       {"depth", &status.depth}}};
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const size_t blank = std::min(line.find(' '), line.size());
    const std::string_view key = line.substr(0, blank);
    const std::string_view value = line.substr(std::min(blank + 1, line.size()));
    for (const auto& [name, place] : texts)
      if (name == key) *place = value;
    for (const auto& [name, place] : numbers)
      if (name == key) *place = number_in(value);
  }
  return answer;
}

// What the process that listens answers; nothing: none does.
std::optional<Result<RecorderStatus>> ask_listener(int64_t pid, std::string_view request) {
  for (const std::string& name : control_names(pid)) {
    ControlSocket recorder;
    if (!recorder.connect(name, pid)) continue;
    const ControlAnswer answer = parse_answer(
        recorder.ask(fmt::format("{}{} {}", xray::kControlMark, xray::kControlVersion, request)));
    if (!answer.version) {
      return control_error(
          pid, is_stopped(pid) ? "is stopped by a signal, and does not answer" : "does not answer");
    }
    if (*answer.version != xray::kControlVersion) {
      return control_error(
          pid, fmt::format("has a recorder that speaks version {} of the control protocol; this "
                           "telltale speaks version {}",
                           *answer.version, xray::kControlVersion));
    }
    if (!answer.done) return control_error(pid, "refuses: " + answer.reason);
    return answer.status;
  }
  return std::nullopt;
}

}  // namespace

Result<RecorderStatus> ask_recorder(int64_t pid, std::string_view request) {
  if (pid <= 0 || pid > std::numeric_limits<pid_t>::max() ||
      (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH)) {
    return control_error(pid, "does not exist");
  }
  const auto deadline = std::chrono::steady_clock::now() + kStartPatience;
  while (true) {
    if (const auto status = ask_listener(pid, request)) return *status;
    const bool may_listen = is_starting(pid) || has_control(recorder_options(pid));
    if (!may_listen || std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(kStartPause);
  }
  return control_error(pid, why_no_socket(pid));
}

}  // namespace telltale::cli
