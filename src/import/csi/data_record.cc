#include "import/csi/data_record.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "bytes/leb_cursor.h"
#include "formats/csi/wire.h"

namespace telltale {
namespace {

using csi::DataStep;
using csi::DataUse;
using csi::kDataUseBits;

constexpr uint64_t kMostIndex = std::numeric_limits<uint32_t>::max() - 1;

class DataReader {
 public:
  explicit DataReader(Bytes bytes) : in_(bytes) {}

  FunctionData read() {
    FunctionData data;
    data.takes_memory = (in_.byte("flags") & csi::kTakesMemory) != 0;
    data.parameters = index("parameters");
    read_names(data);
    read_objects(data);
    read_blocks(data);
    check(data);
    return data;
  }
  [[nodiscard]] const LebCursor& in() const { return in_; }

 private:
  void reject(const char* field) { in_.fail(LebCursor::Failure::rejected, field); }

  uint32_t index(const char* field) {
    const uint64_t number = in_.uleb(field);
    if (number > kMostIndex) reject(field);
    return static_cast<uint32_t>(std::min(number, kMostIndex));
  }
  // How many things follow, each of which takes a byte or more.
  uint32_t count(const char* field) {
    const uint32_t number = index(field);
    if (number > in_.left()) reject(field);
    return in_.ok() ? number : 0;
  }

  void read_names(FunctionData& data) {
    uint64_t value = 0;
    for (uint32_t left = count("names"); left != 0 && in_.ok(); --left) {
      value += index("value of a name");
      if (value > kMostIndex) reject("value of a name");
      data.names.emplace(static_cast<uint32_t>(value), in_.text("name"));
    }
  }

  void read_objects(FunctionData& data) {
    data.objects.push_back({.storage = FunctionData::Storage::memory, .name = {}});
    for (uint32_t left = count("objects"); left != 0 && in_.ok(); --left) {
      FunctionData::Object object;
      switch (static_cast<csi::Storage>(in_.byte("storage"))) {
        case csi::Storage::kLocal:
          object.storage = FunctionData::Storage::local;
          break;
        case csi::Storage::kSharedLocal:
          object.storage = FunctionData::Storage::shared_local;
          break;
        case csi::Storage::kPrivateGlobal:
          object.storage = FunctionData::Storage::private_global;
          object.is_of_unit = true;
          break;
        case csi::Storage::kUnitGlobal:
          object.storage = FunctionData::Storage::global;
          object.is_of_unit = true;
          break;
        case csi::Storage::kGlobal:
          object.storage = FunctionData::Storage::global;
          break;
        default:
          reject("storage");
      }
      object.name = in_.text("name of an object");
      data.objects.push_back(std::move(object));
    }
  }

  FunctionData::Part part(uint32_t object, DataUse use) {
    FunctionData::Part part{.object = object};
    if (use != DataUse::kRange) return part;
    part.begin = in_.uleb("first byte");
    const uint64_t size = in_.uleb("bytes");
    // A part of no bytes, or of too many, may be anything.
    if (size == 0 || part.begin > FunctionData::kEnd - size) return {.object = object};
    part.end = part.begin + size;
    part.is_exact = true;
    return part;
  }

  void read_uses(uint32_t number, FunctionData::Uses& uses) {
    for (; number != 0 && in_.ok(); --number) {
      const uint64_t item = in_.uleb("use");
      const auto use = static_cast<DataUse>(item & ((1U << kDataUseBits) - 1));
      uint64_t of = item >> kDataUseBits;
      if (use == DataUse::kValue) of = csi::data_value(next_value_, of);
      if (of > kMostIndex) return reject("use");
      const auto index = static_cast<uint32_t>(of);
      if (use == DataUse::kValue) {
        uses.values.push_back(index);
      } else if (use == DataUse::kAddress) {
        uses.addresses.push_back(index);
      } else {
        uses.contents.push_back(part(index, use));
      }
    }
  }

  FunctionData::Part read_write() {
    const uint64_t item = in_.uleb("write");
    if (item >> kDataUseBits > kMostIndex) reject("write");
    const auto object = static_cast<uint32_t>(std::min(item >> kDataUseBits, kMostIndex));
    const auto use = static_cast<DataUse>(item & ((1U << kDataUseBits) - 1));
    if (use == DataUse::kValue) return {.object = object, .is_exact = true};
    if (use == DataUse::kAddress) reject("write");
    return part(object, use);
  }

  FunctionData::Call read_call() {
    FunctionData::Call call;
    const unsigned effects = in_.byte("effects of a call");
    call.reads = (effects & csi::kCallReads) != 0;
    call.writes = (effects & csi::kCallWrites) != 0;
    call.arguments_only = (effects & csi::kCallArgumentsOnly) != 0;
    for (uint32_t left = count("arguments"); left != 0 && in_.ok(); --left)
      read_uses(count("uses of an argument"), call.arguments.emplace_back());
    return call;
  }

  FunctionData::Step read_step() {
    FunctionData::Step step;
    const unsigned head = in_.byte("step");
    const auto kind = static_cast<DataStep>(head & csi::kDataKindMask);
    if (kind > DataStep::kEffect) reject("step");
    if ((head & csi::kDataHasScope) != 0) scope_ = index("scope");
    if ((head & (csi::kDataHasLine | csi::kDataHasScope)) != 0) {
      // Wraps around for numbers that no compiler writes.
      line_ = static_cast<uint32_t>(line_ + static_cast<uint64_t>(in_.sleb("line")));
    }
    step.scope = scope_;
    step.line = line_;
    if ((head & csi::kDataHasResult) != 0) step.value = 0;  // numbered later
    uint32_t uses = head >> csi::kDataUsesShift;
    if (uses == csi::kDataManyUses) uses = count("uses");
    read_uses(uses, step.uses);
    switch (kind) {
      case DataStep::kValue:
        step.kind = FunctionData::Kind::value;
        break;
      case DataStep::kStore:
        step.kind = FunctionData::Kind::store;
        step.writes.push_back(read_write());
        break;
      case DataStep::kCall:
        step.kind = FunctionData::Kind::call;
        step.call = read_call();
        break;
      case DataStep::kBranch:
        step.kind = FunctionData::Kind::branch;
        break;
      case DataStep::kReturn:
        step.kind = FunctionData::Kind::ret;
        break;
      case DataStep::kPhi:
        step.kind = FunctionData::Kind::phi;
        for (uint32_t left = count("ways into a block"); left != 0 && in_.ok(); --left) {
          FunctionData::Incoming& way = step.incoming.emplace_back();
          way.block = index("block before a phi");
          read_uses(count("uses of a phi"), way.uses);
        }
        break;
      case DataStep::kEffect:
        step.kind = FunctionData::Kind::effect;
        for (uint32_t left = count("writes"); left != 0 && in_.ok(); --left)
          step.writes.push_back(read_write());
        break;
    }
    return step;
  }

  void read_blocks(FunctionData& data) {
    next_value_ = data.parameters;
    for (uint32_t left = count("blocks"); left != 0 && in_.ok(); --left) {
      FunctionData::Block& block = data.blocks.emplace_back();
      line_ = 0;
      scope_ = 0;
      uint32_t calls = 0;
      for (uint32_t steps = count("steps"); steps != 0 && in_.ok(); --steps) {
        FunctionData::Step step = read_step();
        if (step.call) step.call->number = calls++;
        if (step.value) {
          step.value = next_value_++;
          data.results.push_back({.block = static_cast<uint32_t>(data.blocks.size() - 1),
                                  .step = static_cast<uint32_t>(block.steps.size())});
        }
        block.steps.push_back(std::move(step));
      }
    }
    if (in_.ok() && in_.left() != 0) reject("bytes after the last block");
  }

  // Values and objects can be named before they are defined.
  void check(const FunctionData& data) {
    const uint64_t values = uint64_t{data.parameters} + data.results.size();
    if (values > kMostIndex) reject("parameters");
    const auto is_object = [&](const FunctionData::Part& part) {
      return part.object < data.objects.size();
    };
    const auto are_uses = [&](const FunctionData::Uses& uses) {
      return std::ranges::all_of(uses.values, [&](uint32_t value) { return value < values; }) &&
             std::ranges::all_of(uses.contents, is_object) &&
             std::ranges::all_of(uses.addresses,
                                 [&](uint32_t object) { return object < data.objects.size(); });
    };
    for (const FunctionData::Block& block : data.blocks) {
      for (const FunctionData::Step& step : block.steps) {
        const bool arguments = !step.call || std::ranges::all_of(step.call->arguments, are_uses);
        const bool ways = std::ranges::all_of(step.incoming, [&](const auto& way) {
          return way.block < data.blocks.size() && are_uses(way.uses);
        });
        if (!are_uses(step.uses) || !arguments || !ways ||
            !std::ranges::all_of(step.writes, is_object))
          return reject("a value, object or block that does not exist");
      }
    }
  }

  LebCursor in_;
  uint32_t next_value_ = 0;  // number of the next result
  uint32_t line_ = 0;        // of the step before in the block
  uint32_t scope_ = 0;
};

}  // namespace

std::optional<FunctionData> read_data_record(Cursor& in) {
  const auto version = in.read<uint8_t>("version");
  const Bytes bytes = in.take(in.left(), "data");
  if (in.error() || version != csi::kDataVersion) return std::nullopt;
  DataReader reader(bytes);
  FunctionData data = reader.read();
  if (reader.in().ok()) return data;
  const bool is_cut = reader.in().failure() == LebCursor::Failure::truncated;
  in.fail(Error::Cause::bad_field, std::string(is_cut ? "it ends in the field: " : "bad field: ") +
                                       reader.in().failed_field());
  return std::nullopt;
}

}  // namespace telltale
