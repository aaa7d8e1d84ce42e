#include "collect/store/run_digest.h"

#include <libdeflate.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <vector>

#include "base/varint.h"
#include "bytes/as_bytes.h"
#include "bytes/byte_writer.h"
#include "bytes/leb_cursor.h"
#include "collect/log/durable_file.h"
#include "import/study.h"
#include "output/output_file.h"

namespace telltale::collect {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDigestHead{"telltale digest 1\n", 18};
constexpr size_t kHeadBytes = 18 + 3 * sizeof(uint64_t) + 1 + sizeof(uint32_t);
constexpr uint8_t kWithBounds = 1;
constexpr uint8_t kWithoutPaths = 2;  // earlier versions say nothing of path files
// The distance from the preceding site and the set of counters share a number, if the set fits.
constexpr unsigned kSetBits = 3;
constexpr uint64_t kSetMask = (1U << kSetBits) - 1;

bool ascends(std::span<const int32_t> sites) {
  int64_t last = -1;
  return std::ranges::all_of(sites, [&](int32_t site) { return site > std::exchange(last, site); });
}

// Reads what RunDigestWriter wrote.
class DigestReader {
 public:
  explicit DigestReader(Bytes body) : in_(body) {}

  // The next run; null at the end, and after damage.
  const StoredRun* next() {
    if (in_.left() == 0) return nullptr;
    run_.id = text("id");
    run_.label = text("label");
    run_.bytes = static_cast<int64_t>(in_.uleb("bytes"));
    run_.damage = static_cast<int32_t>(in_.uleb("damage"));
    run_.rule = text("rule");
    run_.status = static_cast<int32_t>(unfold_sign(in_.uleb("status")));
    run_.signal = text("signal");
    run_.backtrace = text("backtrace");
    read_sections();
    run_.bounds.clear();
    for (uint64_t left = in_.uleb("bounds"); left != 0 && in_.ok(); --left) {
      const std::string_view unit = text("unit");
      const uint64_t offset = in_.uleb("offset");
      run_.bounds.push_back({unit, offset, text("body")});
    }
    return in_.ok() ? &run_ : nullptr;
  }
  [[nodiscard]] const LebCursor& in() const { return in_; }

 private:
  std::string_view text(const char* field) {
    const uint64_t size = in_.uleb(field);
    if (size > in_.left()) {
      in_.fail(LebCursor::Failure::truncated, field);
      return {};
    }
    const std::string_view found(reinterpret_cast<const char*>(in_.data()), size);
    in_.seek_to(in_.data() + size);
    return found;
  }

  void read_sections() {
    run_.sections.clear();
    sizes_.clear();
    sites_.clear();
    counted_.clear();
    first_.clear();
    for (uint64_t left = in_.uleb("sections"); left != 0 && in_.ok(); --left) read_section();
    if (!in_.ok()) return;
    // The lists are complete, and do not move any more.
    const int32_t* site = sites_.data();
    const int16_t* set = counted_.data();
    const int64_t* time = first_.data();
    for (size_t i = 0; i < run_.sections.size(); ++i) {
      run_.sections[i].sites = {site, sizes_[i].observed};
      run_.sections[i].counted = {set, sizes_[i].observed};
      run_.sections[i].first = {time, sizes_[i].times};
      site += sizes_[i].observed;
      set += sizes_[i].observed;
      time += sizes_[i].times;
    }
  }

  void read_section() {
    const uint64_t name = in_.uleb("name");
    if (name == names_.size()) {
      const std::string_view unit = text("unit");
      names_.emplace_back(unit, text("scheme"));
    }
    if (name >= names_.size()) return in_.fail(LebCursor::Failure::rejected, "name");
    StoredRun::Section& section = run_.sections.emplace_back();
    section.unit = names_[name].first;
    section.scheme = names_[name].second;
    section.rows = static_cast<int32_t>(in_.uleb("rows"));
    const uint64_t observed = in_.uleb("observed");
    const uint64_t times = in_.uleb("times");
    // Each takes a byte at least.
    if (observed > in_.left() || times > in_.left())
      return in_.fail(LebCursor::Failure::truncated, "observed");
    sizes_.push_back({static_cast<size_t>(observed), static_cast<size_t>(times)});
    read_observed(observed);
    for (uint64_t i = 0; i < times; ++i) first_.push_back(static_cast<int64_t>(in_.uleb("time")));
  }

  void read_observed(uint64_t observed) {
    uint64_t next = 0;
    for (uint64_t i = 0; i < observed; ++i) {
      const uint64_t word = in_.uleb("site");
      const uint64_t site = next + (word >> kSetBits);
      uint64_t set = word & kSetMask;
      if (set == 0) set = in_.uleb("set");
      if (site > std::numeric_limits<int32_t>::max() || set > std::numeric_limits<int16_t>::max())
        return in_.fail(LebCursor::Failure::rejected, "site");
      sites_.push_back(static_cast<int32_t>(site));
      counted_.push_back(static_cast<int16_t>(set));
      next = site + 1;
    }
  }

  struct Sizes {
    size_t observed = 0;
    size_t times = 0;
  };
  LebCursor in_;
  std::vector<std::pair<std::string_view, std::string_view>> names_;  // unit and scheme
  StoredRun run_;
  std::vector<Sizes> sizes_;  // by section
  std::vector<int32_t> sites_;
  std::vector<int16_t> counted_;
  std::vector<int64_t> first_;
};

// None: it is not the whole and undamaged digest of the file.
std::optional<uint8_t> flags_of(Bytes digest, const FileIdentity& file) {
  Cursor in(digest);
  in.begin_record("Digest");
  const Bytes head = in.take(kDigestHead.size(), "head");
  const FileIdentity identity = FileIdentity::read(in);
  const auto flags = in.read<uint8_t>("flags");
  const auto sum = in.read<uint32_t>("checksum");
  const bool is_whole = !in.error() && std::ranges::equal(head, as_bytes(kDigestHead)) &&
                        identity == file &&
                        ::libdeflate_crc32(0, in.rest().data(), in.rest().size()) == sum;
  return is_whole ? std::optional(flags) : std::nullopt;
}

}  // namespace

FileIdentity FileIdentity::read(Cursor& in) {
  FileIdentity identity;
  identity.bytes = in.read<uint64_t>("bytes");
  identity.modified_ns = in.read<uint64_t>("modified");
  identity.inode = in.read<uint64_t>("inode");
  return identity;
}

std::optional<FileIdentity> FileIdentity::of(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileIdentity{static_cast<uint64_t>(found.st_size),
                      static_cast<uint64_t>(found.st_mtim.tv_sec) * 1'000'000'000 +
                          static_cast<uint64_t>(found.st_mtim.tv_nsec),
                      found.st_ino};
}

void RunDigestWriter::add_text(std::string_view text) {
  append_varint(body_, text.size());
  body_ += text;
}

void RunDigestWriter::add(const StoredRun& run) {
  is_sound_ = is_sound_ && run.bytes >= 0 && run.damage >= 0;
  has_paths_ = has_paths_ || run.has_paths;
  add_text(run.id);
  add_text(run.label);
  append_varint(body_, static_cast<uint64_t>(run.bytes));
  append_varint(body_, static_cast<uint64_t>(run.damage));
  add_text(run.rule);
  append_varint(body_, fold_sign(run.status));
  add_text(run.signal);
  add_text(run.backtrace);
  append_varint(body_, run.sections.size());
  // Only those of failed runs are used.
  const bool with_times = run.label == to_string(RunLabel::failed);
  for (const StoredRun::Section& section : run.sections) add_section(section, with_times);
  append_varint(body_, run.bounds.size());
  for (const StoredRun::Bounds& bounds : run.bounds) {
    add_text(bounds.unit);
    append_varint(body_, bounds.offset);
    add_text(bounds.body);
  }
}

void RunDigestWriter::add_section(const StoredRun::Section& section, bool with_times) {
  const bool has_sets = std::ranges::all_of(section.counted, [](int16_t set) { return set > 0; });
  const auto is_time = [](int64_t time) { return time >= 0; };
  if (section.sites.size() != section.counted.size() || !ascends(section.sites) || !has_sets ||
      section.rows < 0 || !std::ranges::all_of(section.first, is_time)) {
    is_sound_ = false;
    return;
  }
  const auto [name, is_new] =
      names_.try_emplace({std::string(section.unit), std::string(section.scheme)}, names_.size());
  append_varint(body_, name->second);
  if (is_new) {
    add_text(section.unit);
    add_text(section.scheme);
  }
  append_varint(body_, static_cast<uint64_t>(section.rows));
  append_varint(body_, section.sites.size());
  append_varint(body_, with_times ? section.first.size() : 0);
  uint64_t next = 0;
  for (size_t i = 0; i < section.sites.size(); ++i) {
    const auto site = static_cast<uint64_t>(section.sites[i]);
    const auto set = static_cast<uint64_t>(section.counted[i]);
    append_varint(body_, (site - next) << kSetBits | (set <= kSetMask ? set : 0));
    if (set > kSetMask) append_varint(body_, set);
    next = site + 1;
  }
  if (!with_times) return;
  for (const int64_t time : section.first) append_varint(body_, static_cast<uint64_t>(time));
}

std::optional<std::string> RunDigestWriter::finish(const FileIdentity& file,
                                                   bool with_bounds) const {
  if (!is_sound_) return std::nullopt;
  const Bytes body = as_bytes(body_);
  ByteWriter out;
  out.write(as_bytes(kDigestHead)).write(file.bytes).write(file.modified_ns).write(file.inode);
  out.write(
      static_cast<uint8_t>((with_bounds ? kWithBounds : 0) | (has_paths_ ? 0 : kWithoutPaths)));
  out.write(::libdeflate_crc32(0, body.data(), body.size())).write(body);
  return out.take();
}

bool is_digest_of(Bytes digest, const FileIdentity& file, bool with_bounds) {
  const std::optional<uint8_t> flags = flags_of(digest, file);
  return flags && (!with_bounds || (*flags & kWithBounds) != 0);
}

bool is_digest_without_paths(Bytes digest, const FileIdentity& file) {
  const std::optional<uint8_t> flags = flags_of(digest, file);
  return flags && (*flags & kWithoutPaths) != 0;
}

void keep_digest(const std::string& file, const FileIdentity& identity, const std::string& place,
                 const std::string& digest) {
  std::error_code failure;
  if (!make_folder(fs::path(place).parent_path().string())) return;
  auto out = OutputFile::open(place);
  if (!out) return;
  out->keep_private();
  if (!out->write(digest) || !out->finish()) return;
  // The file may have been replaced meanwhile, by one without deleted runs.
  if (FileIdentity::of(file) != identity) fs::remove(place, failure);
}

Result<void> read_digest(Bytes digest, const std::function<void(const StoredRun&)>& use) {
  DigestReader reader(digest.subspan(kHeadBytes));
  while (const StoredRun* run = reader.next()) use(*run);
  const LebCursor& in = reader.in();
  if (in.ok()) return {};
  const bool is_torn = in.failure() == LebCursor::Failure::truncated;
  Cursor place(digest);
  place.begin_record("Digest");
  place.fail_at(kHeadBytes + in.position(),
                is_torn ? Error::Cause::truncated : Error::Cause::bad_field,
                std::string("unreadable: ") + in.failed_field());
  return std::unexpected(*place.error());
}

}  // namespace telltale::collect
