#include "bytes/decompress.h"

#include <fmt/format.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/counted.h"

namespace telltale {
namespace {

constexpr size_t kOutputBytes = ByteSource::kStepBytes;
constexpr uint64_t kRatioFreeBytes = uint64_t{1} << 20;

bool begins_gzip(Bytes in) {
  return in.size() >= 3 && in[0] == std::byte{0x1f} && in[1] == std::byte{0x8b} &&
         in[2] == std::byte{8};
}
bool begins_zstd(Bytes in) {
  if (in.size() < 4) return false;
  uint32_t magic = 0;
  for (size_t i = 4; i-- > 0;) magic = magic << 8 | std::to_integer<uint32_t>(in[i]);
  return magic == ZSTD_MAGICNUMBER ||
         (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

bool begins_with(Bytes in, std::array<uint8_t, 4> magic) {
  const auto same = [](uint8_t wanted, std::byte is) { return std::byte{wanted} == is; };
  return in.size() >= magic.size() && std::equal(magic.begin(), magic.end(), in.begin(), same);
}
bool begins_xz(Bytes in) { return begins_with(in, {0xfd, '7', 'z', 'X'}); }
bool begins_lz4(Bytes in) { return begins_with(in, {0x04, 0x22, 0x4d, 0x18}); }

struct Step {
  enum class State : uint8_t { more, end_of_member, damaged, refused };
  size_t consumed = 0;
  size_t produced = 0;
  State state = State::more;
  std::string message{};  // if damaged or rejected
};

// Consecutive compressed members or frames, decompressed in steps. A step that finds damage still
// delivers every byte before it.
class StreamDecoder {
 public:
  StreamDecoder() = default;
  StreamDecoder(const StreamDecoder&) = delete;
  StreamDecoder& operator=(const StreamDecoder&) = delete;
  virtual ~StreamDecoder() = default;
  virtual Step step(Bytes in, std::span<std::byte> out) = 0;
  [[nodiscard]] virtual bool begins_member(Bytes ahead) const = 0;
};

// Never calls inflateGetHeader: the extra field and names of a gzip header are not needed.
class GzipDecoder final : public StreamDecoder {
 public:
  GzipDecoder() { ready_ = ::inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK; }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;
  ~GzipDecoder() override { ::inflateEnd(&stream_); }

  Step step(Bytes in, std::span<std::byte> out) override {
    if (!ready_) return {.state = Step::State::refused, .message = "not enough memory for zlib"};
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    Step step{.consumed = in.size() - stream_.avail_in, .produced = out.size() - stream_.avail_out};
    if (status == Z_STREAM_END) {
      step.state = Step::State::end_of_member;
      ::inflateReset(&stream_);
    } else if (status == Z_MEM_ERROR) {
      step.state = Step::State::refused;
      step.message = "not enough memory for zlib";
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      step.state = Step::State::damaged;
      step.message =
          stream_.msg != nullptr ? stream_.msg : "needs a dictionary, which is not supported";
    }
    return step;
  }
  [[nodiscard]] bool begins_member(Bytes ahead) const override { return begins_gzip(ahead); }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

class ZstdDecoder final : public StreamDecoder {
 public:
  explicit ZstdDecoder(uint64_t max_window_bytes) : stream_(::ZSTD_createDCtx()) {
    const int window_log = static_cast<int>(std::bit_width(max_window_bytes)) - 1;
    const ZSTD_bounds bounds = ::ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
    ::ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax,
                             std::clamp(window_log, bounds.lowerBound, bounds.upperBound));
  }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;
  ~ZstdDecoder() override { ::ZSTD_freeDCtx(stream_); }

  Step step(Bytes in, std::span<std::byte> out) override {
    if (stream_ == nullptr)
      return {.state = Step::State::refused, .message = "not enough memory for zstd"};
    // On an error the library drops the output of the same call. A call therefore gets at most one
    // block, and none while an earlier block is not delivered. A member that filled the output is
    // delivered, but costs a call, too. The hint counts a block and the next one's three-byte
    // header.
    const size_t wanted = hint_ > 3 ? hint_ - 3 : hint_;
    const size_t offered = output_was_full_ ? 0 : std::min(wanted, in.size());
    ZSTD_inBuffer source{in.data(), offered, 0};
    ZSTD_outBuffer sink{out.data(), out.size(), 0};
    const size_t result = ::ZSTD_decompressStream(stream_, &sink, &source);
    if (::ZSTD_isError(result) != 0) {
      const ZSTD_ErrorCode code = ::ZSTD_getErrorCode(result);
      const bool refused =
          code == ZSTD_error_frameParameter_windowTooLarge || code == ZSTD_error_memory_allocation;
      return {.state = refused ? Step::State::refused : Step::State::damaged,
              .message = ::ZSTD_getErrorName(result)};
    }
    output_was_full_ = sink.pos == sink.size;
    hint_ = std::max<size_t>(1, result);
    Step step{.consumed = source.pos, .produced = sink.pos};
    if (result == 0) step.state = Step::State::end_of_member;
    return step;
  }
  [[nodiscard]] bool begins_member(Bytes ahead) const override { return begins_zstd(ahead); }

 private:
  ZSTD_DCtx* stream_;
  size_t hint_ = 4;
  bool output_was_full_ = false;
};

class XzDecoder final : public StreamDecoder {
 public:
  // The library allocates a little more than the window.
  explicit XzDecoder(uint64_t max_window_bytes) : limit_(max_window_bytes + kOwnBytes) { begin(); }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;
  ~XzDecoder() override { ::lzma_end(&stream_); }

  Step step(Bytes in, std::span<std::byte> out) override {
    if (!ready_) return {.state = Step::State::refused, .message = "not enough memory for xz"};
    stream_.next_in = reinterpret_cast<const uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<uint8_t*>(out.data());
    stream_.avail_out = out.size();
    const lzma_ret status = ::lzma_code(&stream_, LZMA_RUN);
    Step step{.consumed = in.size() - stream_.avail_in, .produced = out.size() - stream_.avail_out};
    if (status == LZMA_STREAM_END) {
      step.state = Step::State::end_of_member;
      begin();
    } else if (status == LZMA_MEM_ERROR || status == LZMA_MEMLIMIT_ERROR) {
      step.state = Step::State::refused;
      step.message = "needs too much memory";
    } else if (status != LZMA_OK && status != LZMA_BUF_ERROR) {
      step.state = Step::State::damaged;
      step.message = status == LZMA_OPTIONS_ERROR ? "an unknown filter" : "the data do not fit";
    }
    return step;
  }
  [[nodiscard]] bool begins_member(Bytes ahead) const override { return begins_xz(ahead); }

 private:
  static constexpr uint64_t kOwnBytes = uint64_t{16} << 20;
  void begin() { ready_ = ::lzma_stream_decoder(&stream_, limit_, 0) == LZMA_OK; }

  uint64_t limit_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ready_ = false;
};

class Lz4Decoder final : public StreamDecoder {
 public:
  Lz4Decoder() {
    if (::LZ4F_isError(::LZ4F_createDecompressionContext(&stream_, LZ4F_VERSION)) != 0)
      stream_ = nullptr;
  }
  Lz4Decoder(const Lz4Decoder&) = delete;
  Lz4Decoder& operator=(const Lz4Decoder&) = delete;
  ~Lz4Decoder() override { ::LZ4F_freeDecompressionContext(stream_); }

  Step step(Bytes in, std::span<std::byte> out) override {
    if (stream_ == nullptr)
      return {.state = Step::State::refused, .message = "not enough memory for LZ4"};
    // As for zstd: an error drops the output of the same call. The hint counts a block and the size
    // of the next one.
    const size_t wanted = hint_ > kSizeBytes ? hint_ - kSizeBytes : hint_;
    size_t taken = output_was_full_ ? 0 : std::min(wanted, in.size());
    size_t made = out.size();
    const size_t result = ::LZ4F_decompress(stream_, out.data(), &made, in.data(), &taken, nullptr);
    if (::LZ4F_isError(result) != 0)
      return {.state = Step::State::damaged, .message = ::LZ4F_getErrorName(result)};
    output_was_full_ = made == out.size();
    hint_ = result == 0 ? kHeadBytes : result;
    Step step{.consumed = taken, .produced = made};
    if (result == 0) step.state = Step::State::end_of_member;
    return step;
  }
  [[nodiscard]] bool begins_member(Bytes ahead) const override { return begins_lz4(ahead); }

 private:
  static constexpr size_t kSizeBytes = 4;  // of a block's size
  static constexpr size_t kHeadBytes = 7;  // of the smallest frame's head
  ::LZ4F_dctx* stream_ = nullptr;
  size_t hint_ = kHeadBytes;
  bool output_was_full_ = false;
};

Error limit_error(const std::string& name, std::string detail) {
  return Error{Error::Cause::limit, name, {}, std::move(detail), {}};
}

std::unique_ptr<StreamDecoder> make_decoder(std::string_view compression,
                                            const InputLimits& limits) {
  if (compression == "gzip") return std::make_unique<GzipDecoder>();
  if (compression == "xz") return std::make_unique<XzDecoder>(limits.max_window_bytes);
  if (compression == "lz4") return std::make_unique<Lz4Decoder>();
  return std::make_unique<ZstdDecoder>(limits.max_window_bytes);
}

bool is_bomb(uint64_t produced, uint64_t consumed, const InputLimits& limits) {
  return limits.max_ratio != 0 && produced > kRatioFreeBytes &&
         produced / std::max<uint64_t>(1, consumed) >= limits.max_ratio;
}

// Whether the bytes begin an ELF file of type ET_CORE of a little-endian machine.
bool begins_core_file(Bytes bytes) {
  constexpr std::array kMagic = {std::byte{0x7f}, std::byte{'E'}, std::byte{'L'}, std::byte{'F'}};
  constexpr size_t kTypeOffset = 16;
  constexpr std::byte kCoreType{4};
  return bytes.size() > kTypeOffset + 1 && std::ranges::equal(bytes.first(kMagic.size()), kMagic) &&
         bytes[kTypeOffset] == kCoreType && bytes[kTypeOffset + 1] == std::byte{0};
}

class Decompression {
 public:
  Decompression(std::string_view compression, ByteSource& in, const InputLimits& limits, Spool& out,
                ProblemLog& problems)
      : compression_(compression),
        in_(in),
        limits_(limits),
        out_(out),
        problems_(problems),
        decoder_(make_decoder(compression, limits)) {}

  Result<void> run() {
    for (;;) {
      const Result<Bytes> ahead = in_.peek();
      if (!ahead) return std::unexpected(ahead.error());
      const Step step = decoder_->step(*ahead, buffer_);
      in_.consume(step.consumed);
      if (Result<void> kept = keep(step.produced); !kept) return kept;
      switch (step.state) {
        case Step::State::refused:
          return std::unexpected(
              limit_error(in_.name(), fmt::format("{}: {}", compression_, step.message)));
        case Step::State::damaged:
          stop(Problem::Kind::corruption, step.message);
          return {};
        case Step::State::end_of_member: {
          const Result<bool> another = another_member();
          if (!another) return std::unexpected(another.error());
          if (!*another) return {};
          break;
        }
        case Step::State::more:
          // No progress although all input was offered: the end is missing.
          idle_ = step.consumed == 0 && step.produced == 0 ? idle_ + 1 : 0;
          if (idle_ > 2) {
            const bool torn = ahead->empty();
            stop(torn ? Problem::Kind::torn_tail : Problem::Kind::corruption,
                 torn ? "its end is missing" : "the data do not fit");
            return {};
          }
          break;
      }
    }
  }

 private:
  Result<void> keep(size_t produced) {
    // Stacks and unused memory are zeros: core files shrink to a thousandth.
    if (out_.size() == 0 && begins_core_file(Bytes(buffer_).first(produced))) limits_.max_ratio = 0;
    if (Result<void> appended = out_.append(Bytes(buffer_).first(produced)); !appended)
      return appended;
    const uint64_t consumed = in_.consumed();
    if (is_bomb(out_.size(), consumed, limits_)) {
      return std::unexpected(limit_error(
          in_.name(),
          fmt::format(
              "{} compressed bytes became more than {} (over {} times), like a decompression "
              "bomb; --max-decompressed-bytes N lifts this check",
              consumed, out_.size(), limits_.max_ratio)));
    }
    return {};
  }

  // Whether another member follows the one that has just ended. Anything other than a member or the
  // end is reported.
  Result<bool> another_member() {
    const Result<Bytes> ahead = in_.peek(4);
    if (!ahead) return std::unexpected(ahead.error());
    if (ahead->empty()) return false;
    if (decoder_->begins_member(*ahead)) return true;
    const bool zeros = std::ranges::all_of(*ahead, [](std::byte b) { return b == std::byte{0}; });
    report(zeros ? Problem::Kind::oddity : Problem::Kind::corruption,
           fmt::format("the {} data are followed by {}, from byte {} of the file", compression_,
                       zeros ? "zeros" : "other bytes", in_.consumed()));
    return false;
  }

  // What was decompressed before is kept.
  void stop(Problem::Kind kind, std::string_view why) {
    report(kind, fmt::format("{} {} file: {} after {}; decompressed so far: {}",
                             kind == Problem::Kind::torn_tail ? "torn" : "damaged", compression_,
                             why, counted(in_.consumed(), "byte"), counted(out_.size(), "byte")));
  }

  void report(Problem::Kind kind, std::string message) {
    problems_.add({.kind = kind,
                   .offset = out_.size(),
                   .file = in_.name(),
                   .record = std::string(compression_),
                   .message = std::move(message),
                   .lost_bytes = kind == Problem::Kind::oddity ? 0 : in_.left()});
  }

  std::string_view compression_;
  ByteSource& in_;
  InputLimits limits_;
  Spool& out_;
  ProblemLog& problems_;
  std::unique_ptr<StreamDecoder> decoder_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kOutputBytes);
  int idle_ = 0;
};

}  // namespace

std::string_view compression_of(Bytes beginning) {
  if (begins_gzip(beginning)) return "gzip";
  if (begins_zstd(beginning)) return "zstd";
  if (begins_xz(beginning)) return "xz";
  if (begins_lz4(beginning)) return "lz4";
  return {};
}

Result<void> decompress(std::string_view compression, ByteSource& in, const InputLimits& limits,
                        Spool& out, ProblemLog& problems) {
  return Decompression(compression, in, limits, out, problems).run();
}

Result<std::string> decompress_whole(std::string_view compression, Bytes in,
                                     const InputLimits& limits) {
  const std::unique_ptr<StreamDecoder> decoder = make_decoder(compression, limits);
  const auto fail = [&](Error::Cause cause, std::string detail) {
    return std::unexpected(Error{cause, {}, std::string(compression), std::move(detail), {}});
  };
  std::string out;
  std::vector<std::byte> buffer(kOutputBytes);
  size_t at = 0;
  for (int idle = 0;;) {
    const Step step = decoder->step(in.subspan(at), buffer);
    at += step.consumed;
    if (out.size() + step.produced > limits.max_decompressed_bytes)
      return fail(Error::Cause::limit,
                  fmt::format("decompresses to more than {} bytes", limits.max_decompressed_bytes));
    out.append(reinterpret_cast<const char*>(buffer.data()), step.produced);
    if (is_bomb(out.size(), at, limits))
      return fail(Error::Cause::limit, "expands like a decompression bomb");
    if (step.state == Step::State::refused) return fail(Error::Cause::limit, step.message);
    if (step.state == Step::State::damaged) return fail(Error::Cause::bad_field, step.message);
    if (step.state == Step::State::end_of_member) {
      if (at == in.size()) return out;
      if (!decoder->begins_member(in.subspan(at)))
        return fail(Error::Cause::bad_field, "is followed by other bytes");
    }
    idle = step.consumed == 0 && step.produced == 0 ? idle + 1 : 0;
    if (idle > 2) return fail(Error::Cause::bad_field, "the stream is not whole");
  }
}

}  // namespace telltale
