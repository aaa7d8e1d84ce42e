// Which files of a recording belong to one process, and to one part of it.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "import/xray/xray_recording.h"

namespace telltale {

// By when the process began to record, which snapshots share with the recording. Without a side
// record, the header says whether it was begun after another.
void XrayRecording::number_parts() {
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> known;
  for (uint32_t i = 0; i < files_.size(); ++i) {
    const FileContext& context = files_[i].context;
    if (context.begun != 0) {
      files_[i].part = known.try_emplace({context.pid, context.begun}, i + 1).first->second;
    } else if (files_[i].header.recorder.resumed) {
      files_[i].part = i + 1;
    }
  }
}

// Of the files that have side records. A process may have several recordings, which it stopped and
// began: they are numbered. All else that began to record at another time is another process, or
// another program that the process executed.
void XrayRecording::number_processes() {
  struct Process {
    uint32_t number = 0;  // of its latest recording
    std::string name;
    std::vector<uint32_t> files;
  };
  std::map<std::pair<uint32_t, uint64_t>, std::vector<uint32_t>> begun;  // by pid and time
  for (uint32_t i = 0; i < files_.size(); ++i) {
    const FileContext& context = files_[i].context;
    if (context.begun != 0) begun[{context.pid, context.begun}].push_back(i);
  }
  std::map<uint32_t, std::vector<Process>> by_pid;
  for (const auto& [key, files] : begun) {
    const FileContext& context = files_[files.front()].context;
    std::vector<Process>& processes = by_pid[key.first];
    const auto continued =
        std::ranges::find_if(processes.rbegin(), processes.rend(), [&](Process& one) {
          return context.number > 1 && one.number < context.number &&
                 one.name == context.process_name;
        });
    Process& process = continued == processes.rend() ? processes.emplace_back() : *continued;
    process.number = context.number;
    process.name = context.process_name;
    std::ranges::copy(files, std::back_inserter(process.files));
  }
  for (auto& [pid, processes] : by_pid) {
    if (processes.size() < 2) continue;
    std::ranges::sort(processes, {},
                      [](const Process& one) { return std::ranges::min(one.files); });
    uint32_t number = 0;
    for (const Process& process : processes) {
      ++number;
      for (const uint32_t file : process.files) files_[file].process = number;
    }
  }
}

}  // namespace telltale
