#include "program/recording_hooks.h"

#include <elf.h>

#include "bytes/input_file.h"

namespace telltale {
namespace {

// The hook that -finstrument-functions calls at each entry (gcc manual, "Program Instrumentation
// Options").
constexpr std::string_view kEnterHook = "__cyg_profile_func_enter";

// Clang links this into every program built with -fxray-instrument, with sleds or without.
constexpr std::string_view kXrayRuntime = "__xray_patch";

// In a program that telltale's recorder is linked into, the hooks are the recorder's.
constexpr std::string_view kRecorder = "telltale_xray_start";

void look_for_names(const ElfImage& image, const ElfSection& table, RecordingHooks& hooks) {
  bool defines_hook = false;
  bool has_recorder = false;
  const uint64_t entry = image.is_64_bit() ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  const uint64_t count = image.bytes(table).size() / entry;
  for (uint64_t i = 1; i < count; ++i) {
    const Result<ElfSymbol> symbol = image.symbol(table, static_cast<uint32_t>(i));
    if (!symbol) continue;
    const bool is_hook = symbol->name == kEnterHook;
    hooks.function_calls = hooks.function_calls || is_hook;
    defines_hook = defines_hook || (is_hook && symbol->section != SHN_UNDEF);
    has_recorder = has_recorder || symbol->name == kRecorder;
    hooks.xray_runtime = hooks.xray_runtime || symbol->name == kXrayRuntime;
  }
  hooks.recorder = hooks.recorder || has_recorder;
  hooks.own_function_hooks = hooks.own_function_hooks || (defines_hook && !has_recorder);
}

}  // namespace

RecordingHooks find_recording_hooks(const ElfImage& image) {
  RecordingHooks hooks;
  for (const ElfSection& section : image.sections()) {
    if (section.name == "xray_instr_map" && section.size != 0) hooks.xray = true;
    if (section.name == ".interp") hooks.loads_libraries = true;
    if (section.type == SHT_DYNSYM || section.type == SHT_SYMTAB)
      look_for_names(image, section, hooks);
  }
  return hooks;
}

Result<RecordingHooks> find_recording_hooks(const std::string& path) {
  const Result<InputFile> input = InputFile::open(path);
  if (!input) return std::unexpected(input.error());
  const Result<ElfImage> image = ElfImage::read(input->bytes(), path);
  if (!image) return std::unexpected(image.error());
  return find_recording_hooks(*image);
}

}  // namespace telltale
