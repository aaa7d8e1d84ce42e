// A small request server, to be recorded: a client sends requests over a socket pair, workers parse
// them, look things up and answer; some requests are wrong and leave by an exception.
//
// Its functions are recorded from outside, without a line here:
//   clang++-22 -std=c++17 -O2 -g -fxray-instrument -fxray-instruction-threshold=1 -I../../include
//     -L../../build/release/runtime/stacktrack request_server.cc -o request_server
//     -l:libtelltale_stacktrack.a -pthread
//   telltale run --xray -- ./request_server 1000
// Its StackTrack checkpoints say what a request was about:
//   telltale run --stacktrack -- ./request_server 1000
// g++ -finstrument-functions does in place of clang++ -fxray-instrument.
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <telltale/stacktrack.hpp>
#include <thread>
#include <vector>

TELLTALE_FILE_PROPERTY("role=example server");

namespace server {

struct Request {
  std::string verb;
  uint32_t key = 0;
};

[[gnu::noinline]] Request parse(const std::string& line) {
  TELLTALE_FUNCTION();
  const size_t space = line.find(' ');
  if (space == std::string::npos) throw std::invalid_argument("no key in: " + line);
  return {line.substr(0, space), static_cast<uint32_t>(std::strtoul(&line[space], nullptr, 10))};
}

class Store {
 public:
  Store() {
    for (uint32_t key = 0; key < 500; ++key) values_[key] = std::string(key % 40, 'x');
  }
  [[gnu::noinline]] const std::string& find(uint32_t key) const {
    TELLTALE_FUNCTION();
    TELLTALE_VALUE("key", key);
    const auto found = values_.find(key);
    if (found == values_.end()) throw std::out_of_range("no such key");
    return found->second;
  }

 private:
  std::map<uint32_t, std::string> values_;
};

[[gnu::noinline]] std::string render(const std::string& value) {
  TELLTALE_FUNCTION();
  std::string page = "<p>";
  for (const char letter : value) page += letter == 'x' ? "&times;" : std::string(1, letter);
  return page + "</p>\n";
}

[[gnu::noinline]] std::string answer(const std::string& line, const Store& store) {
  TELLTALE_FUNCTION();
  try {
    const Request request = parse(line);
    const std::string page = render(store.find(request.key));
    TELLTALE_VALUE("bytes", page.size());
    return page;
  } catch (const std::exception& error) {
    TELLTALE_STEP("refused");
    return std::string("error: ") + error.what() + "\n";
  }
}

std::string read_line(int socket) {
  std::string line;
  for (char letter = 0; read(socket, &letter, 1) == 1 && letter != '\n';) line += letter;
  return line;
}

[[gnu::noinline]] void serve(int socket, const Store& store) {
  TELLTALE_FUNCTION();
  for (std::string line = read_line(socket); !line.empty(); line = read_line(socket)) {
    const std::string page = answer(line, store);
    if (write(socket, page.data(), page.size()) < 0) return;
  }
}

// Sends `count` requests and returns how many bytes came back.
size_t ask(int socket, uint32_t count) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string line = i % 10 == 9 ? "nonsense\n" : "get " + std::to_string(i % 510) + "\n";
    if (write(socket, line.data(), line.size()) < 0) break;
    bytes += read_line(socket).size();
  }
  shutdown(socket, SHUT_WR);
  return bytes;
}

}  // namespace server

int main(int argc, char** argv) {
  const auto requests = static_cast<uint32_t>(argc > 1 ? std::atoi(argv[1]) : 1000);
  const server::Store store;
  std::atomic<size_t> bytes = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
    threads.emplace_back(server::serve, ends[1], std::cref(store));
    threads.emplace_back(
        [&bytes, client = ends[0], requests] { bytes += server::ask(client, requests / 2); });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%u requests, %zu bytes of answers\n", requests, bytes.load());
}
