#include "import/recorded_names.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "program/demangle.h"
#include "program/recorded_program.h"

namespace telltale {
namespace {

// A program given by --program, and its identity.
struct GivenProgram {
  ProgramObject object;
  std::string build_id;
};

Result<std::vector<GivenProgram>> read_given(const std::vector<std::string>& programs) {
  std::vector<GivenProgram> given;
  for (const std::string& text : programs) {
    Result<ProgramObject> object = parse_program_object(text);
    if (!object) return std::unexpected(object.error());
    Result<std::string> build_id = read_build_id(object->path);
    if (!build_id) return std::unexpected(build_id.error());
    given.push_back({*std::move(object), *std::move(build_id)});
  }
  return given;
}

Problem problem_with(const std::string& path, std::string message) {
  return {Problem::Kind::names, 0, path, {}, std::move(message), 0};
}

}  // namespace

// Finds and checks the files of a recording's objects.
class RecordedNames::Opener {
 public:
  Opener(std::vector<GivenProgram> given, bool places, ProblemLog& problems)
      : given_(std::move(given)), places_(places), problems_(problems) {}

  // Null if there is no such file; reports each missing file once, unless the side record names the
  // object's functions.
  std::shared_ptr<Program> open(const xray::SideObject& object, bool is_named) {
    const auto [place, is_new] = opened_.try_emplace(std::pair(object.path, object.build_id));
    if (is_new && opened_.size() <= kMaxPrograms) {
      place->second = find(object, is_named);
    } else if (is_new && opened_.size() == kMaxPrograms + 1) {
      problems_.add(problem_with(
          object.path, fmt::format("the recording has more than {} programs", kMaxPrograms)));
    }
    const std::shared_ptr<Program>& program = place->second;
    if (program != nullptr && object.functions != 0 && !program->asked_for_map) {
      program->asked_for_map = true;
      program->map = program->file->map(problems_);
    }
    return program;
  }

 private:
  std::shared_ptr<Program> find(const xray::SideObject& object, bool is_named) {
    const ProgramIdentity identity{object.path, object.build_id, object.file_bytes,
                                   static_cast<int64_t>(object.modified_ns)};
    if (const GivenProgram* given = choose_given(object)) {
      if (given->build_id != object.build_id) {
        problems_.add(problem_with(
            given->object.path,
            fmt::format("is used as {}, but its build-id is {}, not {}: names may be wrong",
                        object.path, given->build_id, object.build_id)));
      }
      return use(given->object.path);
    }
    if (!may_open_recorded_path(object.path)) {
      if (is_named) return nullptr;
      problems_.add(problem_with(
          object.path,
          fmt::format("the recorded program{} was not found; its functions have no names (use "
                      "--program)",
                      object.build_id.empty() ? "" : " (build-id " + object.build_id + ")")));
      return nullptr;
    }
    if (const Result<void> same = check_recorded_program(identity, object.path); !same) {
      if (is_named) return nullptr;
      problems_.add(
          problem_with(object.path, same.error().detail + "; its functions have no names"));
      return nullptr;
    }
    return use(object.path);
  }

  std::shared_ptr<Program> use(const std::string& path) const {
    return std::make_shared<Program>(Program{.file = shared_program(path, places_)});
  }

  const GivenProgram* choose_given(const xray::SideObject& object) const {
    for (const GivenProgram& program : given_) {
      if (!object.build_id.empty() && program.build_id == object.build_id) return &program;
    }
    for (const GivenProgram& program : given_) {
      if (program.object.object == object.number) return &program;
    }
    return nullptr;
  }

  std::vector<GivenProgram> given_;
  bool places_;
  ProblemLog& problems_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Program>> opened_;
};

Result<std::shared_ptr<const RecordedNames>> RecordedNames::open(xray::SideRecord record,
                                                                 const OpenOptions& options,
                                                                 ProblemLog& problems) {
  Result<std::vector<GivenProgram>> given = read_given(options.programs);
  if (!given) return std::unexpected(given.error());
  Opener opener(*std::move(given), options.source_places, problems);
  std::shared_ptr<RecordedNames> names(new RecordedNames(std::move(record)));
  const std::vector<xray::SideObject>& objects = names->record_.objects;
  std::vector<bool> asked_for(objects.size());
  std::set<std::pair<std::string_view, std::string_view>> named;
  for (const xray::SideFunction& function : names->record_.functions) {
    if (function.object != xray::kNoObject) asked_for[function.object] = true;
  }
  for (const xray::SideName& name : names->record_.names) {
    const xray::SideFunction* assigned = names->record_.find_assigned(name.id);
    const size_t object = assigned != nullptr
                              ? assigned->object
                              : names->record_.object_by_id.find(name.id).value_or(xray::kNoObject);
    if (object == xray::kNoObject) continue;
    // It may have been loaded several times.
    named.emplace(objects[object].path, objects[object].build_id);
  }
  for (size_t i = 0; i < objects.size(); ++i) {
    const bool needed = asked_for[i] || objects[i].functions != 0;
    names->programs_.push_back(
        needed ? opener.open(objects[i], named.contains({objects[i].path, objects[i].build_id}))
               : nullptr);
  }
  return names;
}

const FunctionInfo& RecordedNames::describe(FunctionId id) const {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = described_.try_emplace(id);
  if (is_new) place->second = look_up(to_number(id));
  return place->second;
}

FunctionInfo RecordedNames::look_up(uint32_t id) const {
  FunctionInfo info = ask_program(id);
  const xray::SideName* kept = record_.find_name(id);
  if (kept == nullptr || !info.linkage_name.empty() || kept->linkage_name.empty()) return info;
  info.linkage_name = kept->linkage_name;
  info.name = demangle(kept->linkage_name);
  info.file = kept->file;
  info.line = kept->line;
  return info;
}

FunctionInfo RecordedNames::ask_program(uint32_t id) const {
  if (const xray::SideFunction* function = record_.find_assigned(id))
    return describe_address(*function);
  FunctionInfo info;
  info.name = fmt::format("#{}", id);
  const std::optional<size_t> index = record_.object_by_id.find(id);
  if (!index) return info;
  const xray::SideObject& object = record_.objects[*index];
  info.module = object.path;
  const Program* program = programs_[*index].get();
  if (program == nullptr || program->map == nullptr) return info;
  const ProgramFunction& function = program->map->describe(id - object.id_base);
  // A number missing from the map cannot be the recording's number.
  if (function.address == 0 && function.linkage_name.empty()) return info;
  return {function.name, function.linkage_name, function.file, function.line, function.module};
}

FunctionInfo RecordedNames::describe_address(const xray::SideFunction& function) const {
  FunctionInfo info;
  uint64_t address = function.address;
  if (function.object != xray::kNoObject) {
    const xray::SideObject& object = record_.objects[function.object];
    address -= object.load_bias;
    info.module = object.path;
    if (const Program* program = programs_[function.object].get()) {
      CodeName code = program->file->code().find(address);
      info.module = program->file->path();
      info.name = demangle(code.linkage_name);
      info.linkage_name = std::move(code.linkage_name);
      info.file = std::move(code.file);
      info.line = code.line;
    }
  }
  if (info.name.empty()) info.name = fmt::format("@{:#x}", address);
  return info;
}

}  // namespace telltale
