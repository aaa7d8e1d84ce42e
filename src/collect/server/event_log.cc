#include "collect/server/event_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "collect/log/stored_report.h"
#include "output/json_writer.h"

namespace telltale::collect {

void EventLog::write(std::string_view level, std::string_view event, Members members) {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const auto ms = static_cast<uint64_t>(now.count());
  const uint64_t second = ms / 1000 % 86400;
  std::string line;
  JsonWriter json(line);
  json.begin_object();
  json.member("time", fmt::format("{}T{:02}:{:02}:{:02}.{:03}Z", day_of(ms * 1000), second / 3600,
                                  second / 60 % 60, second % 60, ms % 1000));
  json.member("level", level).member("event", event);
  for (const auto& [name, value] : members) {
    json.key(name);
    std::visit([&](const auto& v) { json.value(v); }, value);
  }
  json.end_object();
  line += '\n';
  // One write, so that lines of several threads do not mix. Nothing can be done if it fails.
  [[maybe_unused]] const ssize_t written = ::write(file_, line.data(), line.size());
}

}  // namespace telltale::collect
