#include "formats/xray/event_groups.h"

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

namespace telltale::xray {
namespace {

using Reason = ConversionLoss::Reason;

// Attaches arguments to the preceding entry.
class Grouper {
 public:
  explicit Grouper(ConversionLoss& loss) : loss_(loss) {}
  // Takes the next event of a source; false at its end. `pull` gives one event.
  template <typename Pull>
  bool next(EventGroup& group, Pull pull) {
    group.arguments.clear();
    while (true) {
      if (!std::exchange(has_ahead_, false) && !pull(ahead_)) return false;
      if (ahead_.kind != TimedEvent::Kind::argument) break;
      loss_.add(Reason::orphan_argument);
    }
    group.event = ahead_;
    const bool takes_arguments =
        ahead_.kind == TimedEvent::Kind::call && ahead_.action == FunctionAction::enter_args;
    while (takes_arguments && (has_ahead_ = pull(ahead_))) {
      if (!belongs(group.event)) break;
      has_ahead_ = false;
      group.arguments.push_back(ahead_.value);
    }
    return true;
  }

 private:
  // FDR's arguments name no function (0); basic mode's must name the one that was entered.
  [[nodiscard]] bool belongs(const TimedEvent& entry) const {
    return ahead_.kind == TimedEvent::Kind::argument &&
           (ahead_.function_id == 0 || ahead_.function_id == entry.function_id);
  }
  ConversionLoss& loss_;
  TimedEvent ahead_;
  bool has_ahead_ = false;
};

class FdrThread final : public ThreadEvents {
 public:
  FdrThread(Bytes file, const FileHeader& header, const std::string& file_name,
            ConversionLoss& loss, ProblemLog& problems)
      : file_(file),
        header_(header),
        file_name_(file_name),
        loss_(loss),
        problems_(problems),
        grouper_(loss) {}

  void add(const BufferFrame& frame) { frames_.push_back(&frame); }
  void sort() {
    std::ranges::stable_sort(frames_, {},
                             [](const BufferFrame* frame) { return frame->first_tsc; });
  }
  bool next(EventGroup& group) override {
    return grouper_.next(group, [&](TimedEvent& event) { return pull(event); }) && place(group);
  }

 private:
  bool place(EventGroup& group) const {
    group.tid = frames_[0]->tid;
    group.pid = frames_[0]->pid;
    return true;
  }
  bool pull(TimedEvent& event) {
    while (true) {
      if (buffer_ && buffer_->next(event)) return true;
      if (buffer_) finish_buffer();
      if (at_ == frames_.size()) return false;
      buffer_.emplace(file_, header_, *frames_[at_]);
      loss_.add(Reason::wall_clock);
    }
  }
  void finish_buffer() {
    const BufferFrame& frame = *frames_[at_++];
    if (const auto problem = walk_problem(buffer_->end(), file_, header_, frame, file_name_)) {
      problems_.add(*problem);
      loss_.add(Reason::damaged_bytes, frame.end - buffer_->end().offset);
    }
    buffer_.reset();
  }

  Bytes file_;
  const FileHeader& header_;
  const std::string& file_name_;
  ConversionLoss& loss_;
  ProblemLog& problems_;
  Grouper grouper_;
  std::vector<const BufferFrame*> frames_;
  size_t at_ = 0;
  std::optional<FdrBufferEvents> buffer_;
};

class BasicThread final : public ThreadEvents {
 public:
  BasicThread(Bytes file, const FileHeader& header, ConversionLoss& loss)
      : file_(file), header_(header), grouper_(loss) {}
  void add(const BasicRun& run) { runs_.push_back(run); }
  bool next(EventGroup& group) override {
    group.tid = static_cast<int32_t>(runs_[0].tid);
    group.pid = static_cast<int32_t>(runs_[0].pid);
    return grouper_.next(group, [&](TimedEvent& event) { return pull(event); });
  }

 private:
  bool pull(TimedEvent& event) {
    while (at_run_ < runs_.size()) {
      const BasicRun& run = runs_[at_run_];
      if (at_ < run.begin) at_ = run.begin;
      while (at_ < run.end) {
        Cursor in(file_.subspan(static_cast<size_t>(at_), kBasicRecordBytes), header_.order, at_);
        at_ += kBasicRecordBytes;
        if (const Result<BasicRecord> record = read_basic_record(in, header_.version)) {
          event = timed_event(*record);
          return true;
        }
      }
      ++at_run_;
    }
    return false;
  }

  Bytes file_;
  const FileHeader& header_;
  Grouper grouper_;
  std::vector<BasicRun> runs_;
  size_t at_run_ = 0;
  uint64_t at_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<ThreadEvents>> fdr_threads(Bytes file, const FileHeader& header,
                                                       const FdrFrames& frames,
                                                       const std::string& file_name,
                                                       ConversionLoss& loss, ProblemLog& problems) {
  std::map<std::pair<int32_t, int32_t>, std::unique_ptr<FdrThread>> threads;
  for (const BufferFrame& frame : frames.buffers) {
    if (!frame.timed) {
      loss.add(Reason::untimed_buffer);
      continue;
    }
    auto& thread = threads[{frame.pid, frame.tid}];
    if (!thread) thread = std::make_unique<FdrThread>(file, header, file_name, loss, problems);
    thread->add(frame);
  }
  std::vector<std::unique_ptr<ThreadEvents>> all;
  for (auto& [key, thread] : threads) {
    thread->sort();
    all.push_back(std::move(thread));
  }
  return all;
}

std::vector<std::unique_ptr<ThreadEvents>> basic_threads(Bytes file, const FileHeader& header,
                                                         const std::string& file_name,
                                                         ConversionLoss& loss,
                                                         ProblemLog& problems) {
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<BasicThread>> threads;
  const uint64_t lost_before = problems.lost_bytes();
  for (const BasicRun& run : find_basic_runs(file, header, file_name, problems)) {
    auto& thread = threads[{run.pid, run.tid}];
    if (!thread) thread = std::make_unique<BasicThread>(file, header, loss);
    thread->add(run);
  }
  loss.add(Reason::damaged_bytes, problems.lost_bytes() - lost_before);
  std::vector<std::unique_ptr<ThreadEvents>> all;
  for (auto& [key, thread] : threads) all.push_back(std::move(thread));
  return all;
}

void merge_by_time(std::vector<std::unique_ptr<ThreadEvents>>& threads,
                   const std::function<void(const EventGroup&)>& visit) {
  std::vector<EventGroup> ahead(threads.size());
  const auto later = [&](size_t a, size_t b) {
    return std::pair(ahead[a].event.tsc, a) > std::pair(ahead[b].event.tsc, b);
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> queue(later);
  for (size_t i = 0; i < threads.size(); ++i) {
    if (threads[i]->next(ahead[i])) queue.push(i);
  }
  while (!queue.empty()) {
    const size_t first = queue.top();
    queue.pop();
    visit(ahead[first]);
    if (threads[first]->next(ahead[first])) queue.push(first);
  }
}

}  // namespace telltale::xray
