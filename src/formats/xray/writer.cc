#include "formats/xray/writer.h"

#include "formats/xray/fdr_file_walk.h"

namespace telltale::xray {
namespace {

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Writes the items of walk_fdr_file.
struct RewriteFdr {
  const FileHeader& header;
  Bytes file;
  BlockWriter& out;

  void begin_buffer(const BufferFrame&) {}
  void end_buffer(const BufferFrame&) {}
  void problem(const Problem&) {}
  void function(uint64_t, const FunctionRecord& record) {
    encode_fdr_record(record, encoding_of(header), out.block());
    out.flush_if_full();
  }
  void metadata(const FdrRecord& record) {
    rewrite_fdr_record(record, header, out.block());
    out.flush_if_full();
  }
  void skipped(const SkippedBytes& skipped) { out.write(as_text(skipped.bytes)); }
};

void rewrite_basic(Bytes file, const FileHeader& header, BlockWriter& out) {
  size_t at = kFileHeaderBytes;
  for (; at + kBasicRecordBytes <= file.size() && !out.failed(); at += kBasicRecordBytes) {
    const Bytes raw = file.subspan(at, kBasicRecordBytes);
    Cursor in(raw, header.order, at);
    if (const Result<BasicRecord> record = read_basic_record(in, header.version)) {
      rewrite_basic_record(*record, raw, header, out.block());
      out.flush_if_full();
    } else {
      out.write(as_text(raw));
    }
  }
  out.write(as_text(file.subspan(at)));
}

}  // namespace

void rewrite_fdr_record(const FdrRecord& record, const FileHeader& header, std::string& out) {
  encode_fdr_record(record.payload, encoding_of(header), out, record.raw);
}

void rewrite_basic_record(const BasicRecord& record, Bytes raw, const FileHeader& header,
                          std::string& out) {
  const Encoding encoding = encoding_of(header);
  if (record.type == BasicRecordType::argument) {
    encode_basic_argument({record.function_id, record.tid, record.pid, record.argument}, encoding,
                          out, raw);
  } else {
    encode_basic_call(
        {record.kind, record.cpu, record.function_id, record.tsc, record.tid, record.pid}, encoding,
        out, raw);
  }
}

Result<void> rewrite_trace(Bytes file, const ByteSink& sink) {
  const Result<FileHeader> header = read_file_header(file);
  if (!header) return std::unexpected(header.error());
  BlockWriter out(sink);
  encode_file_header(*header, out.block());
  if (header->type == LogType::fdr) {
    const FdrFrames frames = frame_fdr_file(file, *header, {});
    RewriteFdr rewrite{*header, file, out};
    walk_fdr_file(file, *header, frames, {}, rewrite);
  } else {
    rewrite_basic(file, *header, out);
  }
  return out.finish();
}

}  // namespace telltale::xray
