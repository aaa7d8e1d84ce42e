#include "program/debug_file_search.h"

#include <fcntl.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "bytes/input_file.h"
#include "program/elf_image.h"
#include "program/recorded_program.h"

namespace telltale {
namespace {

// Null if no server is named.
const char* debuginfod_servers() {
  const char* const urls = std::getenv("DEBUGINFOD_URLS");
  return urls == nullptr || *urls == '\0' ? nullptr : urls;
}

struct Notice {
  void (*tell)(std::string_view servers) = nullptr;
  std::chrono::milliseconds patience{};
  bool told = false;
};

// What the searches of a process share. Held while a server is asked: two threads do not ask for
// one file.
struct Asked {
  std::mutex mutex;
  // Searches that found nothing, and whether a server sent the file of another build.
  std::map<std::string, bool> missing;
  Notice notice;
};

Asked& asked() {
  static Asked only;
  return only;
}

// Gives notice if this lives longer than the patience.
class Patience {
 public:
  Patience(Notice& notice, std::string_view servers) : notice_(notice) {
    if (notice.tell == nullptr || notice.told) return;
    thread_ = std::thread([this, servers] {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, notice_.patience, [this] { return answered_; })) return;
      notice_.told = true;
      notice_.tell(servers);
    });
  }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
  ~Patience() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      answered_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

 private:
  Notice& notice_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool answered_ = false;
  std::thread thread_;
};

std::string build_id_of(Dwfl_Module* module) {
  const unsigned char* bits = nullptr;
  GElf_Addr address = 0;
  const int size = dwfl_module_build_id(module, &bits, &address);
  std::string digits;
  for (int i = 0; i < size; ++i) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    digits += kDigits[bits[i] >> 4];
    digits += kDigits[bits[i] & 15];
  }
  return digits;
}

// libdwfl compares the build-ids of files that it finds itself, not of those that a server sent.
bool has_build_id(int file, const std::string& wanted) {
  return read_build_id("/proc/self/fd/" + std::to_string(file)).value_or("") == wanted;
}

}  // namespace

void on_debuginfod_wait(void (*tell)(std::string_view servers),
                        std::chrono::milliseconds patience) {
  asked().notice = {.tell = tell, .patience = patience, .told = false};
}

DebugFileSearch::DebugFileSearch(SymbolizerOptions options)
    : options_(std::move(options)), path_("+:.debug:/usr/lib/debug") {
  for (const std::string& directory : options_.debug_directories) path_ += ":" + directory;
  path_text_ = path_.data();
  callbacks_.find_elf = dwfl_build_id_find_elf;
  callbacks_.find_debuginfo = find;
  callbacks_.section_address = dwfl_offline_section_address;
  callbacks_.debuginfo_path = &path_text_;
}

void DebugFileSearch::attach(Dwfl_Module* module) {
  void** userdata = nullptr;
  dwfl_module_info(module, &userdata, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  *userdata = this;
}

int DebugFileSearch::find(Dwfl_Module* module, void** userdata, const char* module_name,
                          Dwarf_Addr base, const char* file_name, const char* link,
                          GElf_Word checksum, char** found_name) {
  auto* self = static_cast<DebugFileSearch*>(*userdata);
  if (self == nullptr) return -1;  // the kernel's library, of which no server has anything
  const int given = self->open_given_file(module, found_name);
  if (given >= 0) return given;
  // A link names a file beside the program or below a debug root; never another folder.
  const std::string text = link == nullptr ? "" : link;
  if (text.contains('/')) link = nullptr;
  const auto search = [&] {
    return dwfl_standard_find_debuginfo(module, userdata, module_name, base, file_name, link,
                                        checksum, found_name);
  };
  const char* const servers = debuginfod_servers();
  const std::string build_id = build_id_of(module);
  if (servers == nullptr || build_id.empty()) return search();
  // libdwfl asks for symbols and for DWARF, and each Dwfl anew.
  std::string which = build_id + '\0' + text + '\0' + (file_name == nullptr ? "" : file_name);
  which += '\0' + self->path_;
  const std::lock_guard lock(asked().mutex);
  const auto tell_other = [&] { self->sent_others_.insert(file_name); };
  if (const auto known = asked().missing.find(which); known != asked().missing.end()) {
    if (known->second) tell_other();
    return -1;
  }
  const Patience patience(asked().notice, servers);
  int found = search();
  bool is_other = false;
  // Without a file name, what is asked for is the file that dwz made, which has its own build-id.
  if (found >= 0 && file_name != nullptr && !has_build_id(found, build_id)) {
    ::close(found);
    found = -1;
    std::free(*found_name);
    *found_name = nullptr;
    is_other = true;
    tell_other();
  }
  if (found < 0) asked().missing.emplace(std::move(which), is_other);
  return found;
}

int DebugFileSearch::open_given_file(Dwfl_Module* module, char** found_name) const {
  const std::string wanted = build_id_of(module);
  if (wanted.empty()) return -1;
  for (const std::string& file : options_.debug_files) {
    const Result<InputFile> input = InputFile::open(file);
    if (!input) continue;
    const Result<ElfImage> image = ElfImage::read(input->bytes(), file);
    if (!image || image->build_id() != wanted) continue;
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) *found_name = ::strdup(file.c_str());
    return fd;
  }
  return -1;
}

}  // namespace telltale
