#include "trace_file.h"

#include "../descriptors/high.h"
#include "plain.h"
#include "state.h"
#include "syscalls.h"

namespace telltale::recorder {

constinit MappedFile trace_file;
constinit MappedFile side_file;
constinit Path trace_path{Path::Zeros{}};

namespace {

constexpr size_t kLeastMapped = size_t{256} * 1024;

size_t whole_pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// In pieces of 64 KiB. The kernel keeps the pages of each write as one large folio, and the first
// store into each page examines the whole folio: with a MiB at once, stores cost ten times as much.
bool write_zeros(int descriptor, size_t from, size_t to) {
  static const std::byte kZeros[size_t{64} * 1024] = {};
  while (from < to) {
    const size_t most_bytes = sizeof(kZeros) - from % sizeof(kZeros);
    const long done =
        sys::call(SYS_pwrite64, descriptor, kZeros, least(to - from, most_bytes), from);
    if (done == -EINTR) continue;
    if (sys::failed(done) || done == 0) return false;
    from += static_cast<size_t>(done);
  }
  return true;
}

int high_descriptor(int descriptor) {
  return descriptors::move_high([](auto... arguments) { return sys::call(arguments...); },
                                descriptor);
}

// Beyond the limit the kernel would send SIGXFSZ, which the program must not see.
bool is_over_limit(size_t bytes) {
  rlimit limit;
  limit.rlim_cur = RLIM_INFINITY;
  sys::call(SYS_prlimit64, 0, int{RLIMIT_FSIZE}, static_cast<void*>(nullptr), &limit);
  return limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur;
}

}  // namespace

long MappedFile::create(const char* path, size_t most_bytes, size_t first_bytes) {
  const long opened = sys::open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (sys::failed(opened)) return opened;
  descriptor_ = high_descriptor(static_cast<int>(opened));
  path_.clear();
  path_.add(path);
  struct stat status;  // not set to zeros as a whole: that would be a call of memset
  status.st_dev = 0;
  status.st_ino = 0;
  status.st_size = 0;
  sys::call(SYS_fstat, descriptor_, &status);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  allocated_ = 0;
  for (mapped_ = whole_pages(most_bytes); mapped_ >= kLeastMapped || mapped_ >= most_bytes;
       mapped_ = whole_pages(mapped_ / 2)) {
    base_ = static_cast<std::byte*>(
        sys::map(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0));
    if (base_ != nullptr || mapped_ <= kPage) break;
  }
  // A child must not write to its parent's file.
  if (base_ != nullptr && !sys::failed(sys::call(SYS_madvise, base_, mapped_, MADV_DONTFORK)) &&
      grow(first_bytes)) {
    if (thread_state.has_own_descriptors) {  // other threads open it themselves
      sys::call(SYS_close, descriptor_);
      descriptor_ = -1;
    }
    return 0;
  }
  const long error = base_ == nullptr ? -ENOMEM : is_over_limit(first_bytes) ? -EFBIG : -ENOSPC;
  sys::call(SYS_unlinkat, AT_FDCWD, path, 0);
  if (base_ != nullptr) sys::call(SYS_munmap, base_, mapped_);
  sys::call(SYS_close, descriptor_);
  descriptor_ = -1;
  forget();
  return error;
}

void MappedFile::share_head_with_children() {
  shares_head_ = !sys::failed(sys::call(SYS_madvise, base_, kPage, MADV_DOFORK));
}

bool MappedFile::is_ours(int descriptor) const {
  struct stat status;  // not set to zeros as a whole: that would be a call of memset
  status.st_dev = 0;
  status.st_ino = 0;
  status.st_size = 0;
  return descriptor >= 0 && !sys::failed(sys::call(SYS_fstat, descriptor, &status)) &&
         status.st_dev == device_ && status.st_ino == inode_ &&
         static_cast<size_t>(status.st_size) >= allocated_;
}

class MappedFile::Use {
 public:
  explicit Use(MappedFile& file) : number_(file.descriptor()) {}
  ~Use() {
    if (thread_state.has_own_descriptors && number_ >= 0) sys::call(SYS_close, number_);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

int MappedFile::open_again() const {
  const long opened = sys::open(path_.c_str(), O_RDWR | O_NOFOLLOW);
  if (sys::failed(opened)) return -1;
  if (is_ours(static_cast<int>(opened))) return static_cast<int>(opened);
  sys::call(SYS_close, static_cast<int>(opened));
  return -1;
}

// The program may have closed our descriptor and reused its number for one of its files.
int MappedFile::descriptor() {
  if (thread_state.has_own_descriptors) return open_again();
  close_former();
  if (is_ours(descriptor_)) return descriptor_;
  const int opened = open_again();
  descriptor_ = opened < 0 ? -1 : high_descriptor(opened);
  return descriptor_;
}

void MappedFile::close_former() {
  if (former_.descriptor < 0) return;
  struct stat status;  // not set to zeros as a whole: that would be a call of memset
  status.st_dev = 0;
  status.st_ino = 0;
  if (!sys::failed(sys::call(SYS_fstat, former_.descriptor, &status)) &&
      status.st_dev == former_.device && status.st_ino == former_.inode) {
    sys::call(SYS_close, former_.descriptor);
  }
  former_.descriptor = -1;
}

void MappedFile::close_descriptor() {
  if (descriptor_ < 0) return;
  if (thread_state.has_own_descriptors) {
    former_.descriptor = descriptor_;
    former_.device = device_;
    former_.inode = inode_;
  } else if (is_ours(descriptor_)) {
    sys::call(SYS_close, descriptor_);
  }
  descriptor_ = -1;
}

bool MappedFile::allocate(int descriptor, size_t from, size_t bytes) const {
  if (is_over_limit(bytes)) return false;
  const long done = sys::call(SYS_fallocate, descriptor, 0, from, bytes - from);
  // Writing zeros creates the file's pages, many at once: a store into a missing page costs several
  // times as much, because the kernel creates each one separately. On a file system without
  // fallocate the written pages are allocated.
  if (done != -EOPNOTSUPP && sys::failed(done)) return false;
  return write_zeros(descriptor, from, bytes) || done != -EOPNOTSUPP;
}

bool MappedFile::grow(size_t bytes) {
  if (bytes <= allocated_) return true;
  if (base_ == nullptr || bytes > mapped_) return false;
  const Use file(*this);
  if (file.number() < 0 || !allocate(file.number(), allocated_, bytes)) return false;
  // Faults pages in together, and detects here if no memory is available.
  const size_t first = allocated_ / kPage * kPage;
  const long touched = sys::call(SYS_madvise, base_ + first, whole_pages(bytes) - first,
                                 23 /* MADV_POPULATE_WRITE */);
  if (sys::failed(touched) && touched != -EINVAL && touched != -EINTR) return false;
  allocated_ = bytes;
  return true;
}

void MappedFile::cut(size_t bytes) {
  if (base_ == nullptr || bytes >= allocated_) return;
  const Use file(*this);
  if (file.number() >= 0 && !sys::failed(sys::call(SYS_ftruncate, file.number(), bytes)))
    allocated_ = bytes;
}

void MappedFile::forget() {
  if (!thread_state.has_own_descriptors) close_former();
  close_descriptor();
  base_ = nullptr;
  mapped_ = allocated_ = 0;
  shares_head_ = false;
}

void MappedFile::retire() {
  const size_t kept = whole_pages(allocated_);
  if (base_ != nullptr && kept < mapped_) sys::call(SYS_munmap, base_ + kept, mapped_ - kept);
  forget();
}

bool MappedFile::replace_if_holds(const void* address) {
  const auto* const at = static_cast<const std::byte*>(address);
  if (base_ == nullptr || at < base_ || at >= base_ + mapped_) return false;
  sys::map(base_, mapped_, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  // Not the first page: a child expects a shared one to be there.
  sys::call(SYS_madvise, base_ + kPage, mapped_ - kPage, MADV_DONTFORK);
  return true;
}

}  // namespace telltale::recorder
