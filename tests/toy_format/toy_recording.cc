#include "toy_format/toy_recording.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace telltale::toy {
namespace {

Record read_record(std::string_view line, uint64_t offset) {
  Record record;
  record.offset = offset;
  const size_t blank = line.find(' ', 2);
  const bool begins_well = line.starts_with("+ ") || line.starts_with("- ");
  if (!begins_well || blank == std::string_view::npos) {
    record.bad = line;
    return record;
  }
  const char* end = line.data() + blank;
  const auto [at, error] = std::from_chars(line.data() + 2, end, record.time);
  if (error != std::errc() || at != end) record.bad = line;
  record.enters = line.front() == '+';
  record.function = line.substr(blank + 1);
  return record;
}

}  // namespace

class ToyRecording::Names final : public FunctionNames {
 public:
  FunctionId add(std::string_view name) {
    const auto known = std::ranges::find(infos_, name, &FunctionInfo::name);
    const auto id = FunctionId(static_cast<uint32_t>(known - infos_.begin()));
    if (known == infos_.end()) infos_.emplace_back().name = name;
    return id;
  }
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override {
    return infos_[to_number(id)];
  }

 private:
  std::vector<FunctionInfo> infos_;
};

std::vector<Record> read_records(Bytes file) {
  std::string_view rest(reinterpret_cast<const char*>(file.data()), file.size());
  uint64_t offset = kMagic.size();
  rest.remove_prefix(std::min(rest.size(), kMagic.size()));
  std::vector<Record> records;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    records.push_back(read_record(line, offset));
    offset += line.size() + 1;
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return records;
}

ToyRecording::ToyRecording(InputFile file) : file_(std::move(file)) {
  auto names = std::make_shared<Names>();
  info_.format = "toy";
  info_.version = "1";
  info_.files = {file_.name()};
  info_.bytes = file_.bytes().size();
  info_.threads = {{0, 1}};
  info_.clock = clock_;
  info_.problems = file_.problems();
  for (const Record& record : read_records(file_.bytes())) {
    if (!record.bad.empty()) {
      info_.problems.add({Problem::Kind::corruption, record.offset, file_.name(), "line",
                          "neither an entry nor an exit", record.bad.size()});
      continue;
    }
    events_.push_back({record.enters, record.time, names->add(record.function)});
  }
  if (!events_.empty()) {
    info_.first_time = events_.front().time;
    info_.last_time = events_.back().time;
  }
  info_.records = events_.size();
  info_.records_by_kind = {{"line", events_.size()}};
  names_ = std::move(names);
  streams_ = {{.thread = {0, 1}, .thread_name = {}, .shards = 1}};
}

Result<ToyRecording> ToyRecording::open(std::vector<InputFile> files) {
  if (files.size() != 1) return usage_error("a toy log is read alone");
  return ToyRecording(std::move(files.front()));
}

}  // namespace telltale::toy
