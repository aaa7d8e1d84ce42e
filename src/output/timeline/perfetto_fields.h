#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace telltale::perfetto {

// Field numbers of protos/perfetto/trace/*.proto; tests/schemas/perfetto_subset.proto has the
// messages.
namespace trace {
constexpr uint32_t kPacket = 1;
}
namespace packet {
constexpr uint32_t kFtraceEvents = 1, kClockSnapshot = 6, kTimestamp = 8, kSequenceId = 10,
                   kTrackEvent = 11, kInternedData = 12, kSequenceFlags = 13,
                   kCompressedPackets = 50, kDefaults = 59, kTrackDescriptor = 60,
                   kFirstOnSequence = 87, kHeapGraph = 56;
constexpr uint64_t kStateCleared = 1, kNeedsState = 2;
}  // namespace packet
namespace event {
constexpr uint32_t kDebugAnnotations = 4, kType = 9, kNameIid = 10, kCategories = 22, kName = 23,
                   kSourceLocationIid = 34;
constexpr uint32_t kTrackUuid = 11, kCounterValue = 30, kDoubleCounterValue = 44;
constexpr uint64_t kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4;
}  // namespace event
namespace ftrace {
constexpr uint32_t kCpu = 1, kEvent = 2;                        // FtraceEventBundle
constexpr uint32_t kTimestamp = 1, kPid = 2, kSchedSwitch = 4;  // FtraceEvent
constexpr uint32_t kPrevComm = 1, kPrevPid = 2, kPrevState = 4, kNextComm = 5,
                   kNextPid = 6;              // SchedSwitchFtraceEvent
constexpr int64_t kSleeping = 1, kDead = 16;  // of prev_state
constexpr size_t kMostCpus = 128;             // of a trace that Perfetto reads
}  // namespace ftrace
namespace annotation {
constexpr uint32_t kUint = 3, kString = 6, kName = 10;
}
namespace defaults {
constexpr uint32_t kTrackEvent = 11, kTrackUuid = 11, kClockId = 58;
}
namespace clocks {
constexpr uint32_t kClock = 1, kPrimary = 2;                     // ClockSnapshot
constexpr uint32_t kId = 1, kTimestamp = 2, kIsIncremental = 3;  // ClockSnapshot.Clock
constexpr uint64_t kBoottime = 6;                                // builtin
constexpr uint64_t kStepping = 64;  // ours: the first that belongs to a sequence
}  // namespace clocks
namespace track {
constexpr uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParentUuid = 5,
                   kCounter = 8;  // TrackDescriptor
constexpr uint32_t kUnit = 3;     // CounterDescriptor
constexpr uint64_t kUnitCount = 2, kUnitBytes = 3;
constexpr uint32_t kPid = 1, kTid = 2,
                   kThreadName = 5;   // ThreadDescriptor; kPid also of ProcessDescriptor
constexpr uint32_t kProcessName = 6;  // ProcessDescriptor
}  // namespace track
namespace interned {
constexpr uint32_t kEventNames = 2, kSourceLocations = 4;
constexpr uint32_t kIid = 1, kName = 2;                  // EventName
constexpr uint32_t kFile = 2, kFunction = 3, kLine = 4;  // SourceLocation
}  // namespace interned
namespace heap_graph {
constexpr uint32_t kPid = 1, kObjects = 2, kFieldNames = 4, kContinued = 5, kIndex = 6, kRoots = 7,
                   kTypes = 9;
constexpr uint32_t kObjectId = 1, kTypeId = 2, kSelfSize = 3, kReferenceFields = 4,
                   kReferenceObjects = 5;            // HeapGraphObject
constexpr uint32_t kRootObjects = 1, kRootType = 2;  // HeapGraphRoot
constexpr uint32_t kTypeNumber = 1, kClassName = 3;  // HeapGraphType
constexpr uint32_t kIid = 1, kString = 2;            // InternedString
}  // namespace heap_graph

// Track ids are global in a trace; any scheme without collisions works.
inline uint64_t thread_uuid(size_t stream) { return 2 * stream + 3; }
inline uint64_t process_uuid(size_t first_stream) { return 2 * first_stream + 2; }

// Process ids are positive 31-bit numbers; what does not fit is shown as 1.
inline int64_t shown_pid(int64_t pid) {
  return pid > 0 && pid <= std::numeric_limits<int32_t>::max() ? pid : 1;
}

}  // namespace telltale::perfetto
