// Budget: symbolised conversion of a 157 MB FDR trace to a Perfetto timeline >= 30 times faster
// than `llvm-xray convert --output-format=trace_event`, in at most 1/8 of its size plain and 1/20
// compressed.
#include <fmt/format.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <protozero/pbf_reader.hpp>

#include "process.h"
#include "slow_profile.h"
#include "support/xray_trace_maker.h"

namespace {

using telltale::bench::SlowRow;

// A program with eight instrumented functions, so that the trace's ids have names.
constexpr const char* kProgram = R"(
#define F(name) [[clang::xray_always_instrument, gnu::noinline]] int name(int x) { asm volatile(""); return x + 1; }
F(main_loop) F(work) F(insert) F(balance) F(sum) F(fibonacci) F(hash) F(look_up)
int main() { return main_loop(work(insert(balance(sum(fibonacci(hash(look_up(1)))))))) == 0; }
)";
const std::vector<std::string> kNames = {
    "",         "main_loop(int)", "work(int)", "insert(int)", "balance(int)",
    "sum(int)", "fibonacci(int)", "hash(int)", "look_up(int)"};

// Calls and nanoseconds by function name, read back from a Perfetto file with protozero and the
// field numbers of Perfetto's published schema.
class TimelineReader {
 public:
  struct Row {
    uint64_t calls = 0;
    uint64_t ns = 0;
  };

  void read(std::string_view trace) {
    protozero::pbf_reader packets(trace.data(), trace.size());
    while (packets.next(1)) packet(packets.get_view());
  }
  [[nodiscard]] const std::map<std::string, Row>& rows() const { return rows_; }
  [[nodiscard]] size_t open_calls() const { return stack_.size(); }

 private:
  void packet(protozero::data_view bytes) {
    protozero::pbf_reader packet_fields(bytes);
    uint64_t delta = 0;
    bool timed = false;
    protozero::data_view event;
    while (packet_fields.next()) {
      switch (packet_fields.tag()) {
        case 8:
          delta = packet_fields.get_uint64(), timed = true;
          break;
        case 11:
          event = packet_fields.get_view();
          break;
        case 12:
          interned(packet_fields.get_view());
          break;
        case 50:
          inflate(packet_fields.get_view());
          break;
        case 13:
          if ((packet_fields.get_uint32() & 1) != 0) names_.clear();
          break;
        default:
          packet_fields.skip();
      }
    }
    if (event.data() == nullptr) return;
    if (timed) now_ += delta;
    protozero::pbf_reader event_fields(event);
    uint64_t type = 0;
    uint64_t name = 0;
    while (event_fields.next()) {
      if (event_fields.tag() == 9) {
        type = event_fields.get_uint64();
      } else if (event_fields.tag() == 10) {
        name = event_fields.get_uint64();
      } else {
        event_fields.skip();
      }
    }
    if (type == 1) stack_.emplace_back(names_[name], now_);
    if (type == 2 && !stack_.empty()) {
      Row& row = rows_[stack_.back().first];
      ++row.calls;
      row.ns += now_ - stack_.back().second;
      stack_.pop_back();
    }
  }
  void interned(protozero::data_view bytes) {
    protozero::pbf_reader fields(bytes);
    while (fields.next()) {
      if (fields.tag() != 2) {
        fields.skip();
        continue;
      }
      protozero::pbf_reader entry = fields.get_message();
      uint64_t iid = 0;
      std::string name;
      while (entry.next()) {
        if (entry.tag() == 1) {
          iid = entry.get_uint64();
        } else if (entry.tag() == 2) {
          name = entry.get_string();
        } else {
          entry.skip();
        }
      }
      names_[iid] = name;
    }
  }
  void inflate(protozero::data_view bytes) {
    std::string out;
    z_stream stream{};
    inflateInit(&stream);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    int status = Z_OK;
    while (status == Z_OK) {
      const size_t had = out.size();
      out.resize(had + (1U << 20));
      stream.next_out = reinterpret_cast<Bytef*>(out.data() + had);
      stream.avail_out = 1U << 20;
      status = ::inflate(&stream, Z_NO_FLUSH);
      out.resize(out.size() - stream.avail_out);
    }
    inflateEnd(&stream);
    read(out);
  }

  std::map<uint64_t, std::string> names_;
  std::vector<std::pair<std::string, uint64_t>> stack_;
  std::map<std::string, Row> rows_;
  uint64_t now_ = 0;
};

bool right(const std::string& file, const std::map<uint32_t, SlowRow>& expected, uint64_t hz) {
  const std::string bytes = telltale::bench::read_file(file);
  TimelineReader reader;
  reader.read(bytes);
  bool all = reader.open_calls() == 0 && reader.rows().size() == expected.size();
  for (const auto& [function, want] : expected) {
    const auto found = reader.rows().find(kNames[function]);
    if (found == reader.rows().end() || found->second.calls != want.durations.size()) {
      fmt::print(stderr, "wrong: calls of {}\n", kNames[function]);
      all = false;
      continue;
    }
    // Both ends of a call are rounded to nanoseconds.
    const double ns = static_cast<double>(want.sum) * 1e9 / static_cast<double>(hz);
    if (std::abs(static_cast<double>(found->second.ns) - ns) >
        static_cast<double>(want.durations.size()) + 1) {
      fmt::print(stderr, "wrong: time in {}: {} ns instead of {}\n", kNames[function],
                 found->second.ns, ns);
      all = false;
    }
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace telltale::bench;
  TraceShape shape;
  if (argc > 1) shape.records = std::strtoull(argv[1], nullptr, 10);
  const std::string telltale = TELLTALE_BINARY_DIR "/bin/telltale";
  const std::string peer = "llvm-xray-22";
  const Workspace workspace;
  const std::string trace = workspace.file("trace.fdr");
  const std::string program = workspace.file("program");
  write_file(program + ".cc", kProgram);
  run_or_exit({"clang++-19", "-g", "-O1", "-fxray-instrument", program + ".cc", "-o", program},
              "/dev/null");

  const auto convert = [&](const std::string& output, bool compress) {
    std::vector<std::string> command = {telltale, "convert",  trace, "--program", program,
                                        "--to",   "perfetto", "-o",  output};
    if (compress) command.emplace_back("--compress");
    return command;
  };
  const std::string plain = workspace.file("plain.pftrace");
  const std::string compressed = workspace.file("compressed.pftrace");
  {
    const std::string bytes = XrayTraceMaker(shape).make();
    write_file(trace, bytes);
    const auto expected = slow_profile(bytes);
    run_or_exit(convert(plain, false), "/dev/null");
    run_or_exit(convert(compressed, true), "/dev/null");
    if (!right(plain, expected, shape.cycle_frequency) ||
        !right(compressed, expected, shape.cycle_frequency))
      return 1;
  }
  fmt::print("checked: calls and time of every function, read back from both files\n");

  const std::string peer_output = workspace.file("peer.json");
  const std::vector<std::string> peer_command = {
      peer,  "convert", "--symbolize", "--instr_map=" + program, "--output-format=trace_event",
      trace, "-o",      peer_output};
  const Duel result = duel(convert(plain, false), peer_command, 1, 5);
  std::vector<Run> runs;
  for (int i = 0; i < 5; ++i) runs.push_back(run_or_exit(convert(compressed, true), "/dev/null"));
  const Measured ours_compressed = summarise(runs);

  const auto size = [](const std::string& file) {
    return static_cast<double>(std::filesystem::file_size(file));
  };
  const double peer_size = size(peer_output);
  fmt::print("symbolised timeline of {} records\n", shape.records);
  fmt::print("  telltale, plain       {:8.3f} s wall {:8.3f} s cpu {:10.1f} MB\n",
             result.ours.wall_s, result.ours.cpu_s, size(plain) / 1e6);
  fmt::print("  telltale, compressed  {:8.3f} s wall {:8.3f} s cpu {:10.1f} MB\n",
             ours_compressed.wall_s, ours_compressed.cpu_s, size(compressed) / 1e6);
  fmt::print("  {}          {:8.3f} s wall {:8.3f} s cpu {:10.1f} MB\n", peer, result.peer.wall_s,
             result.peer.cpu_s, peer_size / 1e6);
  fmt::print(
      "  ratio {:.1f} plain, {:.1f} compressed (budget 30); size 1/{:.1f} plain (budget 1/8), "
      "1/{:.1f} compressed "
      "(budget 1/20)\n",
      result.ratio(), result.peer.wall_s / ours_compressed.wall_s, peer_size / size(plain),
      peer_size / size(compressed));
  return 0;
}
