// `telltale heapshot`: requests a heap shot from a running program under Mono's log profiler.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "cli/command_line.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/open_recording.h"
#include "import/runtime_events.h"
#include "output/json_writer.h"
#include "output/table/object_writer.h"
#include "report/schemas/schemas.h"

namespace telltale::cli {
namespace {

using namespace std::chrono_literals;

struct HeapshotOptions {
  std::string file;
  std::string host = "127.0.0.1";
  uint16_t port = 0;  // 0: the port named in the recording
  double wait_seconds = 30;
  bool json = false;
};

// The heap shots recorded so far, and the program's command port.
struct ShotState {
  uint64_t begun_or_ended = 0;  // events: a shot has two
  uint16_t port = 0;
  [[nodiscard]] uint64_t shots() const { return begun_or_ended / 2; }
};

Result<ShotState> read_state(const std::string& file) {
  OpenOptions open;
  open.files = {file};
  const auto recording = open_recording(open);
  if (!recording) return std::unexpected(recording.error());
  if (const Result<void> usable = check_use("heapshot", **recording); !usable)
    return std::unexpected(usable.error());
  ShotState state{.begun_or_ended = 0, .port = (*recording)->runtime_events()->header().port};
  for (const auto& [kind, count] : (*recording)->info(0).records_by_kind) {
    if (kind == "HeapShot") state.begun_or_ended = count;
  }
  return state;
}

// A connection to the program's command port; closed with the object.
class CommandPort {
 public:
  static Result<CommandPort> connect(const std::string& host, uint16_t port) {
    const std::string where = fmt::format("{}:{}", host, port);
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int failed =
            ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
        failed != 0)
      return usage_error(where + ": " + ::gai_strerror(failed));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
    int error = ECONNREFUSED;
    for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
      CommandPort to(::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
      if (to.socket_ >= 0 && ::connect(to.socket_, at->ai_addr, at->ai_addrlen) == 0) return to;
      error = errno;
    }
    return io_error(where, "the program does not answer on its command port", error);
  }
  CommandPort(CommandPort&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  CommandPort& operator=(CommandPort&&) = delete;
  ~CommandPort() {
    if (socket_ >= 0) ::close(socket_);
  }

  // The command must arrive in one piece: the profiler does not reassemble it.
  Result<void> ask_for_heap_shot() {
    static constexpr std::string_view kCommand = "heapshot\n";
    const ssize_t sent = ::send(socket_, kCommand.data(), kCommand.size(), MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(kCommand.size())) return {};
    return io_error("the program's command port", "cannot write", errno);
  }

 private:
  explicit CommandPort(int socket) : socket_(socket) {}
  int socket_;
};

// Waits until the file contains the complete shot.
Result<ShotState> wait_for_shot(const HeapshotOptions& options, const ShotState& before) {
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(options.wait_seconds);
  while (true) {
    Result<ShotState> now = read_state(options.file);
    if (!now || now->shots() > before.shots()) return now;
    if (std::chrono::steady_clock::now() >= until) {
      return io_error(
          options.file,
          fmt::format("no new heap shot within {} s; was it recorded with heapshot=ondemand?",
                      options.wait_seconds),
          ETIMEDOUT);
    }
    std::this_thread::sleep_for(200ms);
  }
}

Result<ShotState> take_shot(HeapshotOptions options) {
  const Result<ShotState> before = read_state(options.file);
  if (!before) return before;
  if (options.port == 0) options.port = before->port;
  if (options.port == 0)
    return usage_error(options.file + " does not name a command port; use --port");
  Result<CommandPort> port = CommandPort::connect(options.host, options.port);
  if (!port) return std::unexpected(port.error());
  if (const Result<void> asked = port->ask_for_heap_shot(); !asked)
    return std::unexpected(asked.error());
  return wait_for_shot(options, *before);
}

int run(const HeapshotOptions& options) {
  const Result<ShotState> after = take_shot(options);
  if (!after) return report_error(after.error());
  std::string out;
  if (options.json) {
    JsonWriter json(out, 2);
    DocumentWriter document(json, schemas::kHeapshot, {});
    document.add("heap_shots", after->shots());
    document.finish(ProblemLog());
  } else {
    out =
        fmt::format("heap shot {} is in the file; `telltale report --reports=heapshot` shows it\n",
                    after->shots() - 1);  // reports number them from 0
  }
  return print(out) ? kDone : kUnreadable;
}

}  // namespace

void add_heapshot_verb(Command app, int& status) {
  Command verb = app.add_verb(
      "heapshot", "ask a running Mono program for a heap shot and wait until it is recorded");
  const auto options = std::make_shared<HeapshotOptions>();
  verb.add_option("FILE", options->file, "recording that the program's log profiler is writing")
      .required();
  verb.add_option("--port", options->port, "command port; default: the one named in the recording")
      .type_name("N");
  verb.add_option("--host", options->host, "host on which the program runs").show_default();
  verb.add_option("--wait", options->wait_seconds, "seconds to wait for the shot")
      .in_range(0.0, 1e6)
      .show_default()
      .type_name("S");
  verb.add_flag("--json", options->json, "print JSON with stable keys");
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
