#include "bytes/input_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bytes/byte_source.h"
#include "bytes/spool.h"
#include "support/compressed.h"
#include "support/sanitized.h"

namespace telltale {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr size_t kMiB = size_t{1} << 20;

// Text that compresses a little: it has no repeats at short distance.
std::string noise(size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>('a' + random() % 16);
  return text;
}

std::string_view text_of(const InputFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

class InputFileTest : public ::testing::Test {
 protected:
  InputFileTest() {
    std::string name = (std::filesystem::temp_directory_path() / "telltale-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~InputFileTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& bytes) {
    const std::string path = folder_ / "input";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  // Opens a file of these bytes; ends the test if that fails.
  InputFile open(const std::string& bytes, const InputLimits& limits = {}) {
    Result<InputFile> file = InputFile::open(write(bytes), limits);
    EXPECT_TRUE(file) << to_string(file.error());
    return file ? std::move(*file) : InputFile::from_memory("failed", {});
  }
  std::filesystem::path folder_;
};

TEST_F(InputFileTest, PlainFilesOfEverySizeAreReadAsTheyAre) {
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{3}, size_t{4}, ByteSource::kStepBytes + 1, kMiB, kMiB + 1}) {
    const std::string plain = noise(size);
    const InputFile file = open(plain);
    EXPECT_EQ(text_of(file), plain) << size;
    EXPECT_EQ(file.name(), (folder_ / "input").string());
    EXPECT_EQ(file.compression(), "");
    EXPECT_THAT(file.problems().kept(), IsEmpty());
  }
}

TEST_F(InputFileTest, CompressedFilesOfEverySizeAreOpened) {
  for (const size_t size : {size_t{0}, size_t{1}, ByteSource::kStepBytes, 2 * kMiB, 5 * kMiB + 7}) {
    const std::string plain = noise(size);
    for (const auto& [packed, name] :
         {std::pair{gzip(plain), "gzip"}, std::pair{zstd(plain), "zstd"},
          std::pair{xz(plain), "xz"}, std::pair{lz4(plain), "lz4"}}) {
      const InputFile file = open(packed);
      EXPECT_TRUE(text_of(file) == plain) << name << ' ' << size;
      EXPECT_EQ(file.compression(), name);
      EXPECT_THAT(file.problems().kept(), IsEmpty());
    }
  }
}

TEST_F(InputFileTest, MembersAndFramesFollowOneAnother) {
  const std::string a = noise(700'000, 1), b = noise(900'000, 2);
  EXPECT_TRUE(text_of(open(gzip(a) + gzip("") + gzip(b))) == a + b);
  const std::string skippable("\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
  const InputFile file = open(skippable + zstd(a) + skippable + zstd("") + zstd(b, 0, false));
  EXPECT_TRUE(text_of(file) == a + b);
  EXPECT_EQ(file.compression(), "zstd");
  EXPECT_THAT(file.problems().kept(), IsEmpty());
}

TEST_F(InputFileTest, JunkBehindTheLastMemberIsAProblem) {
  for (const std::string& packed : {gzip("trace"), zstd("trace"), xz("trace"), lz4("trace")}) {
    const InputFile file = open(packed + "junk!");
    EXPECT_EQ(text_of(file), "trace");
    ASSERT_THAT(file.problems().kept(), SizeIs(1));
    const Problem problem = file.problems().kept()[0];
    EXPECT_EQ(problem.kind, Problem::Kind::corruption);
    EXPECT_EQ(problem.offset, 5U);
    EXPECT_EQ(problem.lost_bytes, 5U);
    const std::string place = "byte " + std::to_string(packed.size());
    EXPECT_THAT(problem.message, HasSubstr(place));
    EXPECT_TRUE(file.problems().damaged());
  }
  EXPECT_FALSE(open(gzip("trace") + std::string(512, '\0')).problems().damaged())
      << "padding costs nothing";
}

TEST_F(InputFileTest, EveryPrefixGivesWhatStandsBeforeTheCut) {
  const std::string plain = noise(3000);
  for (const std::string& packed : {gzip(plain), zstd(plain)}) {
    size_t last = 0;
    for (size_t cut = 4; cut < packed.size(); ++cut) {
      const InputFile file = open(packed.substr(0, cut));
      const std::string_view got = text_of(file);
      ASSERT_TRUE(plain.starts_with(got)) << cut;
      ASSERT_GE(got.size(), last) << cut;
      last = got.size();
      ASSERT_THAT(file.problems().kept(), SizeIs(1)) << cut;
      EXPECT_EQ(file.problems().kept()[0].kind, Problem::Kind::torn_tail);
      EXPECT_EQ(file.problems().kept()[0].offset, got.size());
      const std::string message = fmt::format(
          "torn {} file: its end is missing after {} bytes; decompressed so far: {} byte",
          file.compression(), cut, got.size());
      EXPECT_THAT(file.problems().kept()[0].message, HasSubstr(message));
    }
    EXPECT_EQ(last, plain.size()) << "only the checksum was missing";
  }
}

TEST_F(InputFileTest, DamagedBytesAreReportedWithTheirPlace) {
  const std::string plain = noise(2 * kMiB);
  for (const auto& [packed, slack] :
       {std::pair{gzip(plain), size_t{300}}, std::pair{zstd(plain), 2 * 128 * 1024UL}}) {
    std::string damaged = packed;
    for (size_t i = 0; i < 64; ++i) damaged[packed.size() / 2 + i] = static_cast<char>(0xff);
    const InputFile file = open(damaged);
    // Damage to entropy-coded data may only be detected by the checksum.
    size_t good = 0;
    while (good < file.bytes().size() && text_of(file)[good] == plain[good]) ++good;
    EXPECT_GE(good, plain.size() / 2 - 1024 - slack);
    ASSERT_THAT(file.problems().kept(), SizeIs(1));
    EXPECT_EQ(file.problems().kept()[0].offset, file.bytes().size());
    EXPECT_THAT(file.problems().kept()[0].message, HasSubstr("damaged"));
  }
}

TEST_F(InputFileTest, WholeBlocksBeforeADamagedGzipBlockAreKept) {
  const std::string plain = noise(kMiB);
  std::string packed = gzip(plain, 0);  // stored blocks: a byte, the length, its complement
  const auto byte = [&](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(packed[i]));
  };
  const size_t first_block = 10;
  const size_t size = byte(first_block + 1) | byte(first_block + 2) << 8;
  packed[first_block + 5 + size + 3] = static_cast<char>(packed[first_block + 5 + size + 3] ^ 1);
  const InputFile file = open(packed);
  EXPECT_EQ(file.bytes().size(), size);
  EXPECT_TRUE(plain.starts_with(text_of(file)));
  ASSERT_THAT(file.problems().kept(), SizeIs(1));
  EXPECT_THAT(file.problems().kept()[0].message, HasSubstr("invalid stored block lengths"));
  EXPECT_GT(file.problems().kept()[0].lost_bytes, packed.size() - first_block - 5 - size - 10);
}

TEST_F(InputFileTest, WholeBlocksBeforeADamagedZstdBlockAreKept) {
  const std::string plain = noise(kMiB);
  std::string packed = zstd(plain, 0, false);
  // The second block's header, three bytes after the first block: type 3 is reserved.
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(packed[i]));
  };
  const size_t first_block = 6;  // magic, frame descriptor, window descriptor
  const size_t size =
      (byte(first_block) | byte(first_block + 1) << 8 | byte(first_block + 2) << 16) >> 3;
  packed[first_block + 3 + size] = static_cast<char>(packed[first_block + 3 + size] | 6);
  const InputFile file = open(packed);
  EXPECT_EQ(file.bytes().size(), 128U << 10);
  EXPECT_TRUE(plain.starts_with(text_of(file)));
}

TEST_F(InputFileTest, WrongChecksumKeepsTheDataAndIsReported) {
  for (std::string packed : {gzip("evidence"), zstd("evidence")}) {
    const size_t crc = packed.starts_with("\x1f") ? packed.size() - 8 : packed.size() - 1;
    packed[crc] = static_cast<char>(packed[crc] ^ 1);
    const InputFile file = open(packed);
    EXPECT_EQ(text_of(file), "evidence");
    ASSERT_THAT(file.problems().kept(), SizeIs(1));
    EXPECT_EQ(file.problems().kept()[0].kind, Problem::Kind::corruption);
  }
}

TEST_F(InputFileTest, OneLevelOfCompressionOnly) {
  const std::string inner = gzip("secret");
  const InputFile file = open(zstd(inner));
  EXPECT_EQ(text_of(file), inner);
  ASSERT_THAT(file.problems().kept(), SizeIs(1));
  EXPECT_THAT(file.problems().kept()[0].message,
              HasSubstr("another gzip stream, which is not opened"));
}

TEST_F(InputFileTest, LimitNamesTheFlagThatLiftsIt) {
  const std::string plain = noise(3 * kMiB);
  for (const std::string& packed : {gzip(plain, 1), zstd(plain)}) {
    const Result<InputFile> file =
        InputFile::open(write(packed), {.max_decompressed_bytes = 2 * kMiB});
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().cause, Error::Cause::limit);
    EXPECT_THAT(to_string(file.error()), HasSubstr("--max-decompressed-bytes"));
    EXPECT_EQ(open(packed, {.max_decompressed_bytes = 3 * kMiB}).bytes().size(), 3 * kMiB);
  }
  EXPECT_EQ(open(noise(100), {.max_decompressed_bytes = 10}).bytes().size(), 100U)
      << "plain files have no limit";
}

TEST_F(InputFileTest, RatioIsCheckedBehindTheFirstMiBOnly) {
  for (const std::string& packed : {gzip(std::string(kMiB, '\0')), zstd(std::string(kMiB, '\0'))}) {
    EXPECT_EQ(open(packed).bytes().size(), kMiB);
  }
  for (const std::string& packed :
       {gzip(std::string(8 * kMiB, '\0')), zstd(std::string(8 * kMiB, '\0'))}) {
    const Result<InputFile> file = InputFile::open(write(packed));
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().cause, Error::Cause::limit);
    EXPECT_THAT(to_string(file.error()), HasSubstr("--max-decompressed-bytes"));
    EXPECT_EQ(open(packed, {.max_ratio = 0}).bytes().size(), 8 * kMiB);
  }
}

TEST_F(InputFileTest, ZstdWindowIsLimited) {
  const std::string plain = noise(9 * kMiB);  // the window is not larger than the content
  const std::string packed = zstd(plain, 23);
  EXPECT_EQ(open(packed).bytes().size(), plain.size());
  const Result<InputFile> refused = InputFile::open(write(packed), {.max_window_bytes = 4 * kMiB});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause, Error::Cause::limit);
}

// Runs `work` in a child process with a small, fixed address space; its result is the exit status.
int in_small_process(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!testing::kSanitized) {
      const rlimit space{512 * kMiB, 512 * kMiB};
      ::setrlimit(RLIMIT_AS, &space);
    }
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Ten times `inner` zero bytes of one GiB each, as consecutive frames or members.
std::string ten_gib_of_zeros(const std::function<std::string(const std::string&)>& pack) {
  // 64 MiB at a time, so that the test itself needs no GiB.
  const std::string part = pack(std::string(64 * kMiB, '\0'));
  std::string all;
  for (int i = 0; i < 160; ++i) all += part;
  return all;
}

TEST_F(InputFileTest, CoreFilesMayBeMostlyZeros) {
  std::string core(4 * kMiB, '\0');
  core.replace(0, 7,
               "\x7f"
               "ELF\2\1\1");
  core[16] = 4;
  const std::string program = [core]() mutable {
    core[16] = 3;
    return core;
  }();
  for (const auto& pack : {std::function([](const std::string& plain) { return gzip(plain, 9); }),
                           std::function([](const std::string& plain) { return zstd(plain); })}) {
    const Result<InputFile> read = InputFile::open(write(pack(core)));
    ASSERT_TRUE(read) << read.error().detail;
    EXPECT_EQ(read->bytes().size(), core.size());
    EXPECT_FALSE(InputFile::open(write(pack(program))));
  }
}

TEST_F(InputFileTest, BombsAreRefusedInLittleMemory) {
  const std::vector<std::string> bombs = {
      ten_gib_of_zeros([](const std::string& plain) { return gzip(plain, 9); }),
      ten_gib_of_zeros([](const std::string& plain) { return zstd(plain); }),
  };
  for (const std::string& bomb : bombs) {
    const std::string path = write(bomb);
    EXPECT_EQ(in_small_process([&] {
                const Result<InputFile> file = InputFile::open(path);
                return !file && file.error().cause == Error::Cause::limit ? 0 : 1;
              }),
              0);
    EXPECT_EQ(in_small_process([&] {
                const InputLimits limits{.max_decompressed_bytes = 100 * kMiB, .max_ratio = 0};
                const Result<InputFile> file = InputFile::open(path, limits);
                return !file && file.error().cause == Error::Cause::limit ? 0 : 1;
              }),
              0)
        << "without the ratio check the size limit holds";
  }
}

TEST_F(InputFileTest, NestedBombIsNotOpened) {
  std::string bomb(32 * kMiB, '\0');
  for (int i = 0; i < 5; ++i) bomb = i % 2 == 0 ? gzip(bomb, 9) : zstd(bomb);
  const InputFile file = open(bomb);
  EXPECT_LT(file.bytes().size(), kMiB);
}

TEST_F(InputFileTest, PipesAreReadToTheirEnd) {
  const std::string path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string plain = noise(3 * kMiB);
  for (const std::string& sent : {plain, gzip(plain, 1), zstd(plain)}) {
    std::thread writer([&] { std::ofstream(path, std::ios::binary) << sent; });
    const Result<InputFile> file = InputFile::open(path);
    writer.join();
    ASSERT_TRUE(file) << to_string(file.error());
    EXPECT_TRUE(text_of(*file) == plain);
  }
}

TEST_F(InputFileTest, EndlessDeviceStopsAtTheLimit) {
  const Result<InputFile> file = InputFile::open("/dev/zero", {.max_decompressed_bytes = 5 * kMiB});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().cause, Error::Cause::limit);
}

TEST_F(InputFileTest, FileWithoutASizeIsRead) {
  const Result<InputFile> file = InputFile::open("/proc/self/status");
  ASSERT_TRUE(file);
  EXPECT_TRUE(text_of(*file).starts_with("Name:"));
}

TEST_F(InputFileTest, StandardInputIsReadFromWhereItStands) {
  const std::string path = write("skipped trace");
  EXPECT_EQ(in_small_process([&] {
              if (::freopen(path.c_str(), "rb", stdin) == nullptr) return 1;
              std::array<char, 8> skipped{};
              if (::read(STDIN_FILENO, skipped.data(), skipped.size()) != 8) return 2;
              const Result<InputFile> file = InputFile::open("-");
              return file && text_of(*file) == "trace" ? 0 : 3;
            }),
            0);
}

TEST_F(InputFileTest, WhatCannotBeReadSaysWhy) {
  const Result<InputFile> missing = InputFile::open("/nonexistent/file");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().cause, Error::Cause::io);
  EXPECT_EQ(to_string(missing.error()),
            "/nonexistent/file: cannot open: No such file or directory");
  const Result<InputFile> folder = InputFile::open("/usr");
  ASSERT_FALSE(folder);
  EXPECT_EQ(to_string(folder.error()), "/usr: cannot read: Is a directory");
}

TEST_F(InputFileTest, FullTemporaryFolderIsNamed) {
  const std::string path = write(zstd(noise(4 * kMiB)));
  EXPECT_EQ(in_small_process([&] {
              // A file may not grow beyond 2 MiB, which simulates a full disk.
              const rlimit size{2 * kMiB, 2 * kMiB};
              ::signal(SIGXFSZ, SIG_IGN);
              ::setrlimit(RLIMIT_FSIZE, &size);
              const Result<InputFile> file = InputFile::open(path);
              return !file && file.error().cause == Error::Cause::io &&
                             to_string(file.error()).find("temporary file in /") !=
                                 std::string::npos
                         ? 0
                         : 1;
            }),
            0);
  EXPECT_EQ(in_small_process([&] {
              ::setenv("TMPDIR", "/nonexistent", 1);
              const Result<InputFile> file = InputFile::open(path);
              return !file && to_string(file.error()).find("/nonexistent") != std::string::npos ? 0
                                                                                                : 1;
            }),
            0);
}

TEST_F(InputFileTest, NoTemporaryFileStaysBehind) {
  const std::string folder = folder_ / "tmp";
  std::filesystem::create_directory(folder);
  const std::string path = write(zstd(noise(2 * kMiB)));
  EXPECT_EQ(in_small_process([&] {
              ::setenv("TMPDIR", folder.c_str(), 1);
              const Result<InputFile> file = InputFile::open(path);
              if (!file || file->bytes().size() != 2 * kMiB) return 1;
              return std::filesystem::is_empty(folder) ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace telltale
