// Compresses text for tests of readers.
#pragma once

#include <gtest/gtest.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace telltale {

inline std::string gzip(const std::string& plain, int level = 6) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, plain.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string zstd(const std::string& plain, int window_log = 0, bool checksum = true) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0);
  if (window_log != 0) ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  // Streamed in two steps, so that the frame header does not contain the size.
  std::string out(ZSTD_compressBound(plain.size()) + 64, '\0');
  ZSTD_outBuffer sink{out.data(), out.size(), 0};
  ZSTD_inBuffer source{plain.data(), plain.size(), 0};
  EXPECT_EQ(ZSTD_isError(ZSTD_compressStream2(context, &sink, &source, ZSTD_e_continue)), 0U);
  EXPECT_EQ(ZSTD_compressStream2(context, &sink, &source, ZSTD_e_end), 0U);
  ZSTD_freeCCtx(context);
  out.resize(sink.pos);
  return out;
}

inline std::string xz(const std::string& plain) {
  std::string out(lzma_stream_buffer_bound(plain.size()), '\0');
  size_t used = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr,
                                    reinterpret_cast<const uint8_t*>(plain.data()), plain.size(),
                                    reinterpret_cast<uint8_t*>(out.data()), &used, out.size()),
            LZMA_OK);
  out.resize(used);
  return out;
}

inline std::string lz4(const std::string& plain) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  std::string out(LZ4F_compressFrameBound(plain.size(), &preferences), '\0');
  const size_t used =
      LZ4F_compressFrame(out.data(), out.size(), plain.data(), plain.size(), &preferences);
  EXPECT_EQ(LZ4F_isError(used), 0U);
  out.resize(used);
  return out;
}

}  // namespace telltale
