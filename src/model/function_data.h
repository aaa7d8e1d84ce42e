// What the code of a function reads and writes, as `telltale-cc --trace` describes it
// (docs/formats/csi.md, "Data").
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace telltale {

struct FunctionData {
  enum class Storage : uint8_t {
    memory,          // what unknown pointers lead to: heap memory and all shared objects
    local,           // of an activation; accessed by its name alone
    shared_local,    // of an activation; pointers may lead to it
    private_global,  // accessed by its name alone
    global,          // pointers may lead to it
  };
  struct Object {
    Storage storage = Storage::memory;
    std::string name;
    // For a global: the number of the variable in the program. Equal numbers are the same variable.
    uint32_t variable = 0;
    bool is_of_unit = false;  // others of this name are other variables
  };
  static constexpr uint64_t kEnd = std::numeric_limits<uint64_t>::max();
  // Bytes of an object.
  struct Part {
    uint32_t object = 0;
    uint64_t begin = 0;
    uint64_t end = kEnd;    // of a whole object: kEnd
    bool is_exact = false;  // all of these bytes; otherwise some of them
    bool operator==(const Part&) const = default;
  };
  // Results of steps are values; the function's parameters are the first.
  struct Uses {
    std::vector<uint32_t> values;
    std::vector<Part> contents;
    std::vector<uint32_t> addresses;  // of objects
  };
  enum class Kind : uint8_t { value, store, call, branch, ret, phi, effect };
  struct Call {
    std::vector<Uses> arguments;
    bool reads = true;            // memory, as far as the compiler knows
    bool writes = true;           // likewise
    bool arguments_only = false;  // what it accesses is what its arguments point to
    bool calls_back = true;       // it may call functions of the program, if it is not one of them
    uint32_t number = 0;          // among the calls of the block
  };
  struct Incoming {
    uint32_t block = 0;
    Uses uses;
  };
  struct Step {
    Kind kind = Kind::value;
    uint32_t scope = 0;  // number of a scope
    uint32_t line = 0;   // 0: unknown
    std::optional<uint32_t> value = {};
    Uses uses = {};  // of a call: what decides which function it calls
    std::vector<Part> writes = {};
    std::optional<Call> call = {};
    std::vector<Incoming> incoming = {};  // of a phi
  };
  struct Block {
    std::vector<Step> steps;
  };
  // The step that has a value as its result.
  struct Place {
    uint32_t block = 0;
    uint32_t step = 0;
  };

  uint32_t parameters = 0;
  bool takes_memory = false;  // some arguments are in memory: variable arguments, structures
  std::map<uint32_t, std::string> names;  // of the variables that values are of
  std::vector<Object> objects;            // the first is memory
  std::vector<Block> blocks;              // by index
  std::vector<Place> results;             // by value, less `parameters`
};

}  // namespace telltale
