#include <zlib.h>

#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "output/escape.h"
#include "output/timeline/proto_writer.h"
#include "output/timeline/shown_thread.h"
#include "output/tree/tree_export.h"

namespace telltale {
namespace {

// profile.proto of https://github.com/google/pprof/tree/main/proto, by message.
namespace profile {
constexpr uint32_t kSampleType = 1, kSample = 2, kMapping = 3, kLocation = 4, kFunction = 5,
                   kStringTable = 6, kComment = 13, kDefaultSampleType = 14;
}
namespace value_type {
constexpr uint32_t kType = 1, kUnit = 2;
}
namespace sample {
constexpr uint32_t kLocationId = 1, kValue = 2, kLabel = 3;
}
namespace label {
constexpr uint32_t kKey = 1, kString = 2, kNumber = 3;
}
namespace mapping {
constexpr uint32_t kId = 1, kHasFunctions = 7, kHasFilenames = 8, kHasLineNumbers = 9,
                   kHasInlineFrames = 10;
}
namespace location {
constexpr uint32_t kId = 1, kMappingId = 2, kLine = 4;
constexpr uint32_t kFunctionId = 1, kLineNumber = 2;
}  // namespace location
namespace function_field {
constexpr uint32_t kId = 1, kName = 2, kSystemName = 3, kFilename = 4, kStartLine = 5;
}

// One gzip member without a time stamp, written incrementally.
class GzipWriter {
 public:
  explicit GzipWriter(OutputFile& out) : out_(out), block_(size_t{256} << 10, '\0') {
    constexpr int kGzipWindow = 15 + 16;
    if (::deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8,
                       Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;
  ~GzipWriter() { ::deflateEnd(&stream_); }

  Result<void> write(std::string_view bytes) {
    gathered_ += bytes;
    if (gathered_.size() < block_.size()) return {};
    return deflate(Z_NO_FLUSH);
  }
  Result<void> finish() { return deflate(Z_FINISH); }

 private:
  Result<void> deflate(int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(gathered_.data());
    stream_.avail_in = static_cast<uInt>(gathered_.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(block_.data());
      stream_.avail_out = static_cast<uInt>(block_.size());
      ::deflate(&stream_, flush);
      const Result<void> written =
          out_.write(std::string_view(block_).substr(0, block_.size() - stream_.avail_out));
      if (!written) return written;
    } while (stream_.avail_out == 0);
    gathered_.clear();
    return {};
  }

  OutputFile& out_;
  z_stream stream_{};
  std::string block_;
  std::string gathered_;
};

class Strings {
 public:
  Strings() { (*this)(""); }
  uint64_t operator()(std::string_view text) {
    const auto [place, fresh] = numbers_.try_emplace(std::string(text), table_.size());
    if (fresh) table_.push_back(place->first);
    return place->second;
  }
  [[nodiscard]] const std::vector<std::string>& table() const { return table_; }

 private:
  std::map<std::string, uint64_t> numbers_;
  std::vector<std::string> table_;
};

ProtoMessage sample_type(Strings& strings, std::string_view type, std::string_view unit) {
  return ProtoMessage()
      .varint(value_type::kType, strings(type))
      .varint(value_type::kUnit, strings(unit));
}

// Everything that samples refer to: one location per function, both with the number from `ids`.
ProtoMessage describe_functions(const std::map<FunctionId, uint64_t>& ids,
                                const ExportContext& context, Strings& strings) {
  ProtoMessage out;
  for (const auto& [function, id] : ids) {
    const FunctionInfo& info = context.functions.describe(function);
    const ProtoMessage line =
        ProtoMessage().varint(location::kFunctionId, id).varint(location::kLineNumber, info.line);
    out.message(profile::kLocation, ProtoMessage()
                                        .varint(location::kId, id)
                                        .varint(location::kMappingId, 1)
                                        .message(location::kLine, line));
    const std::string& linkage = info.linkage_name.empty() ? info.name : info.linkage_name;
    out.message(profile::kFunction, ProtoMessage()
                                        .varint(function_field::kId, id)
                                        .varint(function_field::kName, strings(info.name))
                                        .varint(function_field::kSystemName, strings(linkage))
                                        .varint(function_field::kFilename, strings(info.file))
                                        .varint(function_field::kStartLine, info.line));
  }
  return out;
}

ProtoMessage thread_labels(const CallTree::Root& root, Strings& strings) {
  ProtoMessage labels;
  if (root.thread == ThreadKey() && root.thread_name.empty()) return labels;  // of all threads
  const auto add = [&](const ProtoMessage& one) { labels.message(sample::kLabel, one); };
  const std::string title =
      root.thread_name.empty() ? std::to_string(root.thread.tid) : root.thread_name;
  add(ProtoMessage().varint(label::kKey, strings("thread")).varint(label::kString, strings(title)));
  add(ProtoMessage().varint(label::kKey, strings("tid")).int64(label::kNumber, root.thread.tid));
  add(ProtoMessage()
          .varint(label::kKey, strings("pid"))
          .int64(label::kNumber, distinct_pid(root.thread)));
  if (!root.process_name.empty()) {
    add(ProtoMessage()
            .varint(label::kKey, strings("process"))
            .varint(label::kString, strings(root.process_name)));
  }
  return labels;
}

}  // namespace

Result<void> write_pprof(const CallTree& tree, const ExportContext& context, OutputFile& out,
                         std::span<const LiveType> live) {
  GzipWriter gzip(out);
  Strings strings;
  std::map<FunctionId, uint64_t> ids;
  ProtoMessage head;
  const TreeUnits& units = context.units;
  // If the value is the count itself, writes it once.
  const bool is_count = units.unit == "count";
  head.message(profile::kSampleType, sample_type(strings, units.counted, "count"));
  if (!is_count)
    head.message(profile::kSampleType, sample_type(strings, units.measured, units.unit));
  if (!live.empty()) {
    head.message(profile::kSampleType, sample_type(strings, "inuse_objects", "count"));
    head.message(profile::kSampleType, sample_type(strings, "inuse_space", "bytes"));
  }
  head.varint(profile::kDefaultSampleType, strings(is_count ? units.counted : units.measured));
  if (tree.estimated != 0) head.varint(profile::kComment, strings(estimate_remark(tree)));
  if (const Result<void> written = gzip.write(head.encoded()); !written) return written;
  for (const CallTree::Root& root : tree.roots) {
    const ProtoMessage labels = thread_labels(root, strings);
    std::vector<uint64_t> path;  // outermost first
    for (size_t i = root.node + 1; i < tree.nodes[root.node].end; ++i) {
      const CallTree::Node& node = tree.nodes[i];
      path.resize(node.depth - 1);
      path.push_back(ids.try_emplace(node.function, ids.size() + 1).first->second);
      const uint64_t self = context.clock.to_ns(node.self);
      if (node.calls == 0 && self == 0) continue;
      std::vector<uint64_t> values = {node.calls};
      if (!is_count) values.push_back(self);
      if (!live.empty()) values.insert(values.end(), {0, 0});
      ProtoMessage one;
      one.packed(sample::kLocationId, std::vector<uint64_t>(path.rbegin(), path.rend()))
          .packed(sample::kValue, values);
      const ProtoMessage whole =
          ProtoMessage().bytes(profile::kSample, one.encoded() + labels.encoded());
      if (const Result<void> written = gzip.write(whole.encoded()); !written) return written;
    }
  }
  for (const LiveType& type : live) {
    const uint64_t location[] = {ids.try_emplace(type.frame, ids.size() + 1).first->second};
    std::vector<uint64_t> values(is_count ? 1 : 2);
    values.insert(values.end(), {type.objects, type.bytes});
    ProtoMessage one;
    one.packed(sample::kLocationId, location).packed(sample::kValue, values);
    const ProtoMessage whole = ProtoMessage().message(profile::kSample, one);
    if (const Result<void> written = gzip.write(whole.encoded()); !written) return written;
  }
  ProtoMessage tail;
  tail.message(profile::kMapping, ProtoMessage()
                                      .varint(mapping::kId, 1)
                                      .varint(mapping::kHasFunctions, 1)
                                      .varint(mapping::kHasFilenames, 1)
                                      .varint(mapping::kHasLineNumbers, 1)
                                      .varint(mapping::kHasInlineFrames, 1));
  std::string rest = tail.encoded() + describe_functions(ids, context, strings).encoded();
  ProtoMessage table;
  for (const std::string& text : strings.table()) table.text(profile::kStringTable, text);
  rest += table.encoded();
  if (const Result<void> written = gzip.write(rest); !written) return written;
  return gzip.finish();
}

}  // namespace telltale
