#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/function_names.h"

namespace telltale {

enum class CheckpointKind : uint8_t { scope, step, variable };

// Maps a scope index of a process to its checkpoint, from StackTrack's context records. Checkpoints
// with the same name, file, line and style are merged over all processes; FunctionIds number them
// in order of appearance. Built on opening, constant afterwards. Parts are what single files have
// of a process: finish() says which process each is of.
class StacktrackCheckpoints final : public FunctionNames {
 public:
  // A position in the recording's files.
  struct Place {
    uint32_t file = 0;
    uint64_t offset = 0;
    auto operator<=>(const Place&) const = default;
  };

  // --- while records are read, in file order
  void name_file(uint32_t part, uint64_t file_number, Place place, std::string name);
  struct Definition {
    Place place;
    uint64_t style = 0;
    uint64_t line = 0;
    uint64_t file_number = 0;
    std::string name;
    uint32_t checkpoint = 0;  // set by finish()
  };
  void define(uint32_t part, uint64_t scope, Definition definition);
  // Adds a HIT. A checkpoint without a definition, or with an unknown style, is a scope if it ever
  // exits, a variable if it ever has a value, otherwise a step.
  void hit(uint32_t part, uint64_t scope, bool exit, bool with_text);
  // `processes`: by part; numbered from 0 without gaps.
  void finish(std::span<const uint32_t> processes);

  // --- afterwards
  // The checkpoint of a HIT at `place`: by the last definition before it in its file, else the
  // first after it, else the nearest in another file.
  [[nodiscard]] FunctionId find(uint32_t process, uint64_t scope, Place place) const;
  [[nodiscard]] CheckpointKind kind(FunctionId id) const {
    return to_number(id) < checkpoints_.size() ? checkpoints_[to_number(id)].kind
                                               : CheckpointKind::step;
  }
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override;
  [[nodiscard]] size_t size() const { return checkpoints_.size(); }

 private:
  struct Scope {
    std::vector<Definition> definitions;  // finish() sorts them by position
    bool exits = false;
    bool has_text = false;
    uint32_t only = 0;  // the checkpoint, if there is at most one definition
  };
  struct Process {
    std::unordered_map<uint64_t, Scope> scopes;
    std::map<uint64_t, std::map<Place, std::string>> files;
  };
  struct Checkpoint {
    FunctionInfo info;
    CheckpointKind kind = CheckpointKind::scope;
  };
  [[nodiscard]] uint32_t intern(std::string name, std::string file, uint32_t line,
                                CheckpointKind kind);
  [[nodiscard]] std::string file_name(const Process& process, const Definition& definition) const;
  [[nodiscard]] Process& part(uint32_t number);
  void join(std::span<const uint32_t> processes);
  void finish(Process& process);

  std::vector<Process> processes_;  // parts until finish()
  std::vector<Checkpoint> checkpoints_;
  std::unordered_map<std::string, uint32_t> by_content_;  // only until finish()
  FunctionInfo unknown_{.name = "#?", .linkage_name = {}, .file = {}, .line = 0, .module = {}};
};

}  // namespace telltale
