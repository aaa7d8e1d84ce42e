#include "collect/store/path_digest.h"

#include <libdeflate.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/varint.h"
#include "bytes/as_bytes.h"
#include "bytes/byte_writer.h"
#include "bytes/leb_cursor.h"

namespace telltale::collect {
namespace {

constexpr std::string_view kPathDigestHead{"telltale paths 2\n", 17};
constexpr size_t kPathHeadBytes = 17 + 4 * sizeof(uint64_t) + sizeof(uint32_t);

class PathDigestWriter {
 public:
  void add(const RunPaths& run) {
    put_text(run.id);
    put_name(run.label);
    const std::vector<Problem> problems = run.read.problems.kept();
    append_varint(body_, problems.size() + (run.read.error ? 1 : 0));
    for (const Problem& problem : problems) put_problem(problem);
    if (run.read.error) {
      put_problem({Problem::Kind::corruption,
                   run.read.error->offset.value_or(0),
                   {},
                   run.read.error->record,
                   run.read.error->detail,
                   0});
    }
    append_varint(body_, run.read.facts ? 1 : 0);
    if (run.read.facts) put_facts(*run.read.facts);
  }
  [[nodiscard]] const std::string& body() const { return body_; }

 private:
  void put_text(std::string_view text) {
    append_varint(body_, text.size());
    body_ += text;
  }
  // The number of a text, which follows where it is used first.
  void put_name(const std::string& text) {
    const auto [name, is_new] = names_.try_emplace(text, names_.size());
    append_varint(body_, name->second);
    if (is_new) put_text(text);
  }
  void put_function(const PathFacts::Function& function) {
    put_name(function.first);
    put_name(function.second);
  }
  void put_places(const auto& places) {
    append_varint(body_, places.size());
    for (const auto& [file, line] : places) {
      put_name(file);
      append_varint(body_, line);
    }
  }
  void put_problem(const Problem& problem) {
    append_varint(body_, static_cast<uint64_t>(problem.kind));
    append_varint(body_, problem.offset);
    put_name(problem.record);
    put_name(problem.message);
    append_varint(body_, problem.lost_bytes);
  }
  void put_facts(const PathFacts& facts) {
    append_varint(body_, facts.decoded.size());
    for (const PathFacts::Function& function : facts.decoded) put_function(function);
    append_varint(body_, facts.ahead.size());
    for (const auto& [function, places] : facts.ahead) {
      put_function(function);
      put_places(places);
    }
    for (const auto& deeds : facts.known) {
      append_varint(body_, deeds.size());
      for (const auto& [deed, ran] : deeds) {
        put_function(deed.function);
        put_places(deed.places);
        append_varint(body_, static_cast<uint64_t>(ran));
      }
    }
    append_varint(body_, facts.stack.size());
    for (const isolation::StackFrame& frame : facts.stack) {
      put_name(frame.function);
      put_name(frame.file);
      append_varint(body_, frame.line);
      put_name(frame.module);
    }
  }

  std::string body_;
  std::map<std::string, uint64_t> names_;
};

class PathDigestReader {
 public:
  explicit PathDigestReader(Bytes body) : in_(body) {}

  std::vector<RunPaths> read() {
    std::vector<RunPaths> runs;
    while (in_.left() != 0 && in_.ok()) {
      RunPaths& run = runs.emplace_back();
      run.id = text("id");
      run.label = name("label");
      for (uint64_t left = count("problems"); left != 0 && in_.ok(); --left)
        run.read.problems.add(problem(run.id));
      if (in_.uleb("facts") != 0) run.read.facts = facts();
    }
    return runs;
  }
  [[nodiscard]] const LebCursor& in() const { return in_; }

 private:
  // Each element takes a byte at least.
  uint64_t count(const char* field) {
    const uint64_t size = in_.uleb(field);
    if (size > in_.left()) in_.fail(LebCursor::Failure::truncated, field);
    return in_.ok() ? size : 0;
  }
  std::string_view text(const char* field) {
    const uint64_t size = count(field);
    const std::string_view found(reinterpret_cast<const char*>(in_.data()), size);
    in_.seek_to(in_.data() + size);
    return found;
  }
  std::string name(const char* field) {
    const uint64_t number = in_.uleb(field);
    if (in_.ok() && number == names_.size()) names_.push_back(text(field));
    if (number < names_.size()) return std::string(names_[number]);
    in_.fail(LebCursor::Failure::rejected, field);
    return {};
  }
  PathFacts::Function function() {
    std::string of = name("function");
    return {std::move(of), name("file")};
  }
  uint32_t line() {
    const uint64_t line = in_.uleb("line");
    if (line > std::numeric_limits<uint32_t>::max()) in_.fail(LebCursor::Failure::rejected, "line");
    return static_cast<uint32_t>(line);
  }
  PathFacts::Place place() {
    std::string file = name("file");
    return {std::move(file), line()};
  }
  Problem problem(const std::string& file) {
    Problem problem;
    const uint64_t kind = in_.uleb("kind");
    if (kind > static_cast<uint64_t>(Problem::Kind::copies))
      in_.fail(LebCursor::Failure::rejected, "kind");
    else
      problem.kind = static_cast<Problem::Kind>(kind);
    problem.offset = in_.uleb("offset");
    problem.file = file;
    problem.record = name("record");
    problem.message = name("message");
    problem.lost_bytes = in_.uleb("lost");
    return problem;
  }
  std::pair<PathFacts::Deed, PathFacts::Said> deed() {
    PathFacts::Deed deed;
    deed.function = function();
    for (uint64_t left = count("places"); left != 0 && in_.ok(); --left)
      deed.places.push_back(place());
    const uint64_t said = in_.uleb("said");
    if (said > static_cast<uint64_t>(PathFacts::Said::not_yet))
      in_.fail(LebCursor::Failure::rejected, "said");
    return {std::move(deed),
            in_.ok() ? static_cast<PathFacts::Said>(said) : PathFacts::Said::maybe};
  }
  PathFacts facts() {
    PathFacts facts;
    for (uint64_t left = count("functions"); left != 0 && in_.ok(); --left)
      facts.decoded.insert(facts.decoded.end(), function());
    for (uint64_t left = count("functions ahead"); left != 0 && in_.ok(); --left) {
      std::set<PathFacts::Place>& places = facts.ahead[function()];
      for (uint64_t more = count("places ahead"); more != 0 && in_.ok(); --more)
        places.insert(places.end(), place());
    }
    for (auto& deeds : facts.known) {
      for (uint64_t left = count("deeds"); left != 0 && in_.ok(); --left)
        deeds.insert(deeds.end(), deed());
    }
    for (uint64_t left = count("frames"); left != 0 && in_.ok(); --left) {
      isolation::StackFrame& frame = facts.stack.emplace_back();
      frame.function = name("function");
      frame.file = name("file");
      frame.line = in_.uleb("line");
      frame.module = name("module");
    }
    return facts;
  }

  LebCursor in_;
  std::vector<std::string_view> names_;
};

}  // namespace

std::string to_path_digest(std::span<const RunPaths> runs, const FileIdentity& file,
                           uint64_t programs) {
  PathDigestWriter writer;
  for (const RunPaths& run : runs) writer.add(run);
  const Bytes body = as_bytes(writer.body());
  ByteWriter out;
  out.write(as_bytes(kPathDigestHead)).write(file.bytes).write(file.modified_ns).write(file.inode);
  out.write(programs).write(::libdeflate_crc32(0, body.data(), body.size())).write(body);
  return out.take();
}

bool is_path_digest_of(Bytes digest, const FileIdentity& file, uint64_t programs) {
  Cursor in(digest);
  in.begin_record("Digest");
  const Bytes head = in.take(kPathDigestHead.size(), "head");
  const FileIdentity identity = FileIdentity::read(in);
  const auto by = in.read<uint64_t>("programs");
  const auto sum = in.read<uint32_t>("checksum");
  return !in.error() && std::ranges::equal(head, as_bytes(kPathDigestHead)) && identity == file &&
         by == programs && ::libdeflate_crc32(0, in.rest().data(), in.rest().size()) == sum;
}

Result<std::vector<RunPaths>> read_path_digest(Bytes digest) {
  PathDigestReader reader(digest.subspan(kPathHeadBytes));
  std::vector<RunPaths> runs = reader.read();
  const LebCursor& in = reader.in();
  if (in.ok()) return runs;
  const bool is_torn = in.failure() == LebCursor::Failure::truncated;
  return std::unexpected(Error{is_torn ? Error::Cause::truncated : Error::Cause::bad_field,
                               {},
                               "Digest",
                               std::string("unreadable: ") + in.failed_field(),
                               kPathHeadBytes + in.position()});
}

}  // namespace telltale::collect
