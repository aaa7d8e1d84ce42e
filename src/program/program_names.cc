#include "program/program_names.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "bytes/input_file.h"
#include "program/demangle.h"
#include "program/elf_image.h"
#include "program/instrumentation_map.h"

namespace telltale {

namespace {

// A separate debug file has the section headers of the program that it was split from, but not the
// bytes.
bool is_separate_debug_file(const ElfImage& image) {
  return std::ranges::any_of(image.sections(), [](const ElfSection& section) {
    return section.name == ".text" && section.type == SHT_NOBITS;
  });
}

struct Loaded {
  std::string path;
  InstrumentationMap map;
  bool is_elf = false;
  std::unique_ptr<Symbolizer> symbolizer;  // null for a YAML map
};

}  // namespace

ProgramFunction describe_function(const InstrumentationMap& map,
                                  const InstrumentedFunction& function, Symbolizer* symbolizer,
                                  std::string module) {
  ProgramFunction described;
  described.module = std::move(module);
  described.address = function.address;
  described.linkage_name = map.given_name(function);
  if (symbolizer != nullptr) {
    CodeName code = symbolizer->find(function.address, function.section);
    described.linkage_name = std::move(code.linkage_name);
    described.file = std::move(code.file);
    described.line = code.line;
  }
  described.name = demangle(described.linkage_name);
  if (described.name.empty()) described.name = fmt::format("@{:#x}", function.address);
  return described;
}

Result<ProgramObject> parse_program_object(std::string_view text) {
  ProgramObject object;
  const size_t equals = text.find('=');
  const auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), object.object);
  const bool numbered = equals != std::string_view::npos && equals != 0 && failure == std::errc() &&
                        end == text.data() + equals;
  object.path = numbered ? text.substr(equals + 1) : text;
  if (!numbered) object.object = 0;
  if (object.object > kXRayMaxObject) {
    return usage_error(fmt::format("object {} of program {} exceeds {}", object.object, object.path,
                                   kXRayMaxObject));
  }
  if (object.path.empty()) return usage_error("a program has an empty path");
  return object;
}

class ProgramNames::State {
 public:
  Result<void> load(const std::vector<ProgramObject>& objects, SymbolizerOptions options,
                    ProblemLog& problems) {
    for (const ProgramObject& object : objects) {
      if (auto loaded = load_map(object, options, problems); !loaded)
        return std::unexpected(loaded.error());
    }
    if (loaded_.empty() && !objects.empty()) {
      return usage_error("only separate debug files were given, and no program");
    }
    for (auto& [number, program] : loaded_) {
      if (program.is_elf) program.symbolizer = std::make_unique<Symbolizer>(program.path, options);
    }
    return {};
  }

  const ProgramFunction& describe(uint32_t id) {
    {
      const std::shared_lock lock(mutex_);
      const auto found = described_.find(id);
      if (found != described_.end()) return *found->second;
    }
    auto function = std::make_unique<ProgramFunction>(look_up(id));
    const std::unique_lock lock(mutex_);
    return *described_.try_emplace(id, std::move(function)).first->second;
  }

  [[nodiscard]] uint64_t function_count() const {
    uint64_t count = 0;
    for (const auto& [number, program] : loaded_) count += program.map.functions().size();
    return count;
  }

 private:
  Result<void> load_map(const ProgramObject& object, SymbolizerOptions& options,
                        ProblemLog& problems) {
    const Result<InputFile> input = InputFile::open(object.path);
    if (!input) return std::unexpected(input.error());
    problems.merge(input->problems());
    const bool is_elf = ElfImage::recognises(input->bytes());
    Result<InstrumentationMap> map;
    if (is_elf) {
      const Result<ElfImage> image = ElfImage::read(input->bytes(), object.path);
      if (!image) return std::unexpected(image.error());
      if (is_separate_debug_file(*image)) {
        options.debug_files.push_back(object.path);
        return {};
      }
      map = InstrumentationMap::read_elf(*image, problems);
    } else {
      map = InstrumentationMap::read_yaml(input->bytes(), object.path, problems);
    }
    if (!map) return std::unexpected(map.error());
    if (map->functions().empty()) {
      return std::unexpected(
          Error{Error::Cause::bad_field,
                object.path,
                {},
                "has no XRay instrumentation map: it was built without -fxray-instrument, or clang "
                "found every function too small (-fxray-instruction-threshold=1 instruments all)",
                {}});
    }
    if (loaded_.contains(object.object)) {
      return usage_error(
          fmt::format("object {} was given twice: {} and {}; write NUMBER=PATH for shared objects",
                      object.object, loaded_[object.object].path, object.path));
    }
    loaded_[object.object] = Loaded{object.path, *std::move(map), is_elf, nullptr};
    return {};
  }

  ProgramFunction look_up(uint32_t id) const {
    const uint32_t number = id >> kXRayFunctionBits;
    const auto program = loaded_.find(number);
    if (program != loaded_.end()) {
      const uint32_t local = id & ((uint32_t{1} << kXRayFunctionBits) - 1);
      if (const InstrumentedFunction* function = program->second.map.find(local)) {
        return name_of(program->second, *function);
      }
    } else if (const auto main = loaded_.find(0); main != loaded_.end()) {
      // Before LLVM 20 an id had no object number, so a program could have more than 2^24
      // functions.
      if (const InstrumentedFunction* function = main->second.map.find(id))
        return name_of(main->second, *function);
    }
    ProgramFunction unknown;
    unknown.name = fmt::format("#{}", id);
    return unknown;
  }

  static ProgramFunction name_of(const Loaded& program, const InstrumentedFunction& function) {
    return describe_function(program.map, function, program.symbolizer.get(), program.path);
  }

  std::map<uint32_t, Loaded> loaded_;  // by object number
  std::shared_mutex mutex_;
  std::unordered_map<uint32_t, std::unique_ptr<ProgramFunction>> described_;
};

ProgramNames::ProgramNames(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProgramNames::ProgramNames(ProgramNames&&) noexcept = default;
ProgramNames& ProgramNames::operator=(ProgramNames&&) noexcept = default;
ProgramNames::~ProgramNames() = default;

Result<ProgramNames> ProgramNames::open(const std::vector<ProgramObject>& objects,
                                        SymbolizerOptions options, ProblemLog& problems) {
  auto state = std::make_unique<State>();
  if (auto loaded = state->load(objects, std::move(options), problems); !loaded) {
    return std::unexpected(loaded.error());
  }
  return ProgramNames(std::move(state));
}

const ProgramFunction& ProgramNames::describe(uint32_t id) const { return state_->describe(id); }
uint64_t ProgramNames::function_count() const { return state_->function_count(); }

}  // namespace telltale
