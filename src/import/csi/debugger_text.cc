#include "import/csi/debugger_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "base/trimmed.h"
#include "import/csi/debugger_frame.h"

namespace telltale {
namespace {

// Of a text: gdb abbreviates equal elements, so that a short text can have many.
constexpr size_t kMostValues = size_t{1} << 20;
constexpr size_t kMostFrames = 10'000;  // of a thread

template <typename Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// A number as it is printed by default, or in hexadecimal.
std::optional<int64_t> take_value(std::string_view& text) {
  if (!text.starts_with("0x")) {
    const bool is_octal = text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
    return is_octal ? std::nullopt : take_number<int64_t>(text);
  }
  text.remove_prefix(2);
  uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (problem != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return static_cast<int64_t>(number);
}

// The numbers of a value: "3", "0x3", "{1, 2 <repeats 3 times>, -1}", "([0] = 1, [1] = -1)". Empty
// if the debugger left some out, or there are more than `most`.
std::optional<std::vector<int64_t>> numbers_of(std::string_view text, size_t most) {
  std::vector<int64_t> numbers;
  while (!text.empty()) {
    const char c = text.front();
    if (c == '[') {
      const size_t end = text.find('=');
      if (end == std::string_view::npos) return std::nullopt;
      text.remove_prefix(end + 1);
    } else if (text.starts_with("<repeats ")) {
      text.remove_prefix(9);
      const auto times = take_number<uint64_t>(text);
      if (!times || *times == 0 || numbers.empty() || *times > most - numbers.size())
        return std::nullopt;
      numbers.insert(numbers.end(), static_cast<size_t>(*times - 1), numbers.back());
      text.remove_prefix(std::min(text.find('>'), text.size()));
    } else if (text.starts_with("...") || c == '<') {
      return std::nullopt;
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      const auto number = take_value(text);
      if (!number || numbers.size() == most) return std::nullopt;
      numbers.push_back(*number);
    } else {
      text.remove_prefix(1);
    }
  }
  return numbers;
}

// Without the escape sequences that colour a terminal: ESC [ ... LETTER.
std::string without_colours(std::string_view text) {
  constexpr char kEscape = '\x1b';
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != kEscape || i + 1 == text.size() || text[i + 1] != '[') {
      plain += text[i];
      continue;
    }
    ++i;
    while (i + 1 < text.size() && (text[i + 1] < '@' || text[i + 1] > '~')) ++i;
    ++i;
  }
  return plain;
}

// How many lines one line of the debugger may be wrapped to.
constexpr int kMostWraps = 64;

class Reader {
 public:
  Reader(std::string_view text, const std::string& name, std::span<const std::string> wanted,
         ProblemLog& problems)
      : text_(text), name_(name), wanted_(wanted), problems_(problems) {}

  std::vector<ThreadStack> read() {
    while (at_ < text_.size()) {
      const size_t begin = at_;
      read_line(next_line(), begin);
    }
    join_first_print();
    std::vector<ThreadStack> threads;
    for (Stack& stack : stacks_) {
      if (stack.frames.empty()) continue;
      ThreadStack& thread = threads.emplace_back();
      thread.tid = stack.tid;
      thread.cut = std::move(stack.cut);
      for (auto& [number, frame] : stack.frames) {
        // gdb leaves out the address of a frame into which the one before was inlined.
        const bool was_interrupted =
            !thread.frames.empty() && is_signal_frame(thread.frames.back());
        if (was_interrupted) frame.interrupted = true;
        const bool has_inlined = frame.pc == 0 && number != 0 && !thread.frames.empty() &&
                                 !was_interrupted && !is_signal_frame(frame);
        if (has_inlined && stack.frames.contains(number - 1)) thread.frames.back().inlined = true;
        thread.frames.push_back(std::move(frame));
      }
    }
    return threads;
  }

 private:
  // A thread where it stopped.
  struct Stack {
    int64_t tid = 0;                        // 0: unknown
    std::map<uint32_t, StackFrame> frames;  // by number
    uint32_t selected = 0;                  // frame that a command without a frame is about
    std::string cut;
  };
  struct Owner {
    size_t stack = 0;
    uint32_t frame = 0;
  };

  std::string_view next_line() {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    const size_t begin = std::exchange(at_, end + 1);
    return text_.substr(begin, end - begin);
  }

  void read_line(std::string_view line, size_t offset) {
    if (line.starts_with("(gdb) ")) {
      line.remove_prefix(6);
      end_listing();
    }
    if (line.starts_with("(lldb)")) return end_listing();
    const bool is_indented = line.starts_with(' ') || line.starts_with('\t');
    line = trimmed(line);
    const bool is_marked = line.starts_with("* ");
    if (is_marked) line = trimmed(line.substr(2));
    constexpr std::string_view kSwitch = "[Switching to thread ";
    if (line.starts_with(kSwitch) || line.starts_with("[Switching to Thread "))
      return begin_thread(line, true);
    if (tells_stop(line)) return begin_stop();
    if (line.starts_with("Thread ")) return begin_thread(line, false);
    if (line.starts_with("thread #")) return begin_thread(line, is_marked);
    std::string_view rest = line;
    const bool is_lldb = rest.starts_with("frame #");
    if (is_lldb) rest.remove_prefix(6);
    if (rest.starts_with('#')) {
      rest.remove_prefix(1);
      if (const auto number = take_number<uint32_t>(rest)) {
        const bool selects = is_lldb ? is_marked || !is_indented || heads_thread_ : true;
        return begin_frame(*number, whole_frame(rest), is_lldb, selects);
      }
    }
    if (!line.empty() && !is_indented && !line.starts_with("No ")) end_listing();
    read_variable(line, is_indented, offset);
  }

  // A frame's line with those that it was wrapped to.
  std::string whole_frame(std::string_view line) {
    std::string whole(line);
    for (int wraps = 0; wraps < kMostWraps && at_ < text_.size(); ++wraps) {
      const size_t begin = at_;
      const std::string_view next = next_line();
      const std::string_view text = trimmed(next);
      const bool is_open = parentheses_open(whole) > 0;
      const bool is_place = next.starts_with("    at ") || next.starts_with("    from ");
      // An argument may have a parenthesis too many. gdb indents variables by eight; LLDB begins
      // them with their type.
      const bool is_another = text.starts_with('#') || text.starts_with("frame #") ||
                              text.starts_with('(') || next.starts_with("        ");
      if (is_another || (!is_open && !is_place)) {
        at_ = begin;
        break;
      }
      whole += ' ';
      whole += text;
    }
    return whole;
  }

  // gdb: "Thread 2 (Thread 0x7f00 (LWP 123)):", "[Switching to thread 2 (Thread 0x7f00 (LWP
  // 123))]"; LLDB: "thread #2, name = ...".
  void begin_thread(std::string_view line, bool selects) {
    const size_t process = line.find("LWP ");
    const size_t digits =
        process != std::string_view::npos ? process + 4 : line.find_first_of("123456789");
    std::string_view number = line.substr(std::min(digits, line.size()));
    const int64_t tid = take_number<int64_t>(number).value_or(0);
    end_listing();
    const auto known = latest_.find(tid);
    if (tid == 0 || known == latest_.end())
      add_stack(tid);
    else
      current_ = known->second;
    if (selects) selected_ = current_;
    heads_thread_ = selects;
    is_listed_ = !selects;
    listed_frame_.reset();
  }

  // Whether the program ran on, or has stopped. gdb, then LLDB.
  static bool tells_stop(std::string_view line) {
    constexpr auto kWords = std::to_array<std::string_view>(
        {"Continuing.", "Starting program: ", "Old value = ", "Program received signal ",
         "Run till exit from "});
    if (std::ranges::any_of(kWords, [&](auto words) { return line.starts_with(words); }))
      return true;
    // Where a breakpoint is set, " at ADDRESS" follows its number.
    for (const std::string_view words : {"Breakpoint ", "Temporary breakpoint "}) {
      if (!line.starts_with(words)) continue;
      const size_t end = line.find_first_not_of("0123456789.", words.size());
      return end != std::string_view::npos && line[end] == ',';
    }
    // Of several threads: Thread 2 "name" hit Breakpoint 1, f () at a.c:4
    if (line.starts_with("Thread "))
      return line.contains("\" hit ") || line.contains("\" received signal ");
    return line.starts_with("Process ") &&
           (line.ends_with(" stopped") || line.ends_with(" resuming"));
  }
  // Frames that follow are not those before, even if they look alike.
  void begin_stop() {
    end_listing();
    if (stacks_.empty() || (stacks_[current_].frames.empty() && !latest_.contains(0))) return;
    latest_.clear();
    last_.reset();
    add_stack(stacks_[selected_.value_or(current_)].tid);
    selected_ = current_;
    is_listed_ = false;
  }

  // The output of another command follows.
  void end_listing() {
    listed_frame_.reset();
    heads_thread_ = false;
  }

  Stack& current() {
    if (stacks_.empty()) stacks_.emplace_back();
    return stacks_[current_];
  }

  void add_stack(int64_t tid) {
    current_ = stacks_.size();
    stacks_.emplace_back().tid = tid;
    latest_[tid] = current_;
  }

  void begin_frame(uint32_t number, const std::string& line, bool is_lldb, bool selects) {
    StackFrame each = read_debugger_frame(line);
    each.interrupted = number == 0;
    // gdb marks no frame of a backtrace: they follow each other, from the innermost one.
    const bool is_listing = !is_lldb && listed_frame_ && *listed_frame_ + 1 == number;
    Stack* stack = &current();
    if (stack->tid == 0 && !selected_) selected_ = current_;
    if (is_listing && number == 1) stack->selected = selected_before_;
    listed_frame_ = is_lldb || (!is_listing && number != 0) ? std::nullopt : std::optional(number);
    heads_thread_ = false;
    if (const auto known = stack->frames.find(number);
        known != stack->frames.end() && !is_same(known->second, each)) {
      // The program ran on, and stopped again.
      const bool is_selected = selected_ == current_;
      add_stack(stack->tid);
      if (is_selected) selected_ = current_;
      stack = &current();
    }
    last_ = {current_, number};
    if (selects && !is_listing) {
      selected_before_ = stack->selected;
      stack->selected = number;
    }
    if (stack->frames.contains(number)) return;
    if (stack->frames.size() == kMostFrames) {
      stack->cut = fmt::format("only the innermost {} frames are read", kMostFrames);
      return;
    }
    stack->frames.emplace(number, std::move(each));
  }

  // What the kernel puts between a handler and what it interrupted: gdb calls it <signal handler
  // called>, LLDB has libc's symbol.
  static bool is_signal_frame(const StackFrame& frame) {
    return frame.symbol.contains("signal handler called") || frame.symbol == "__restore_rt";
  }

  static bool is_same(const StackFrame& a, const StackFrame& b) {
    return a.symbol == b.symbol && (a.pc == b.pc || a.pc == 0 || b.pc == 0) &&
           (a.line == b.line || a.line == 0 || b.line == 0);
  }

  // gdb indents the variables of `backtrace full`, which are of the frame before. Others are of the
  // frame that is selected.
  [[nodiscard]] Owner owner_of(bool is_indented) {
    if (is_indented && last_) return *last_;
    // `thread apply all info locals`
    if (is_listed_ && (!last_ || last_->stack != current_)) return {current_, current().selected};
    current();
    if (!selected_ && stacks_.size() > 1) {
      add_stack(0);  // which of the threads is not said
      selected_ = current_;
    }
    const size_t stack = selected_.value_or(0);
    return {stack, stacks_[stack].selected};
  }

  // "NAME = VALUE", or "(TYPE) NAME = VALUE"; braces may be on several lines.
  void read_variable(std::string_view line, bool is_indented, size_t offset) {
    const size_t sign = line.find(" = ");
    if (sign == std::string_view::npos) return;
    std::string_view name = trimmed(line.substr(0, sign));
    name.remove_prefix(name.find_last_of(" )") + 1);
    if (std::ranges::find(wanted_, name) == wanted_.end()) return;
    std::string value(line.substr(sign + 3));
    int64_t open = braces_of(value);
    while (open > 0 && at_ < text_.size()) {
      const std::string_view more = next_line();
      open += braces_of(more);
      value += ' ';
      value += more;
    }
    StackVariable variable{.name = std::string(name), .values = {}, .missing = {}};
    if (auto numbers = numbers_of(value, values_left_); numbers && !numbers->empty() && open <= 0) {
      values_left_ -= numbers->size();
      variable.values = *std::move(numbers);
    } else {
      variable.missing =
          "the text has no numbers, or not all (gdb: set print elements unlimited; LLDB: settings "
          "set "
          "target.max-children-count 1000)";
      problems_.add({Problem::Kind::corruption, offset, name_, "variable",
                     fmt::format("{} cannot be read", name), 0});
    }
    const Owner owner = owner_of(is_indented);
    Stack& stack = stacks_[owner.stack];
    const auto found = stack.frames.find(owner.frame);
    if (found == stack.frames.end() && !stack.frames.empty()) return;  // it was left out
    StackFrame& frame = stack.frames[owner.frame];
    if (found == stack.frames.end()) frame.interrupted = true;
    std::erase_if(frame.variables, [&](const StackVariable& each) { return each.name == name; });
    frame.variables.push_back(std::move(variable));
  }

  // gdb prints the innermost frame, without its thread, when it opens a core file or the program
  // stops. Gives its variables to the thread that turns out to be stopped there.
  void join_first_print() {
    if (stacks_.size() < 2 || stacks_.front().tid != 0) return;
    Stack& first = stacks_.front();
    for (Stack& stack : stacks_ | std::views::drop(1)) {
      const bool is_it = std::ranges::all_of(first.frames, [&](const auto& each) {
        const auto other = stack.frames.find(each.first);
        return other != stack.frames.end() && is_same(each.second, other->second) &&
               (each.second.variables.empty() || other->second.variables.empty());
      });
      if (!is_it) continue;
      for (auto& [number, frame] : first.frames) {
        if (stack.frames[number].variables.empty())
          stack.frames[number].variables = std::move(frame.variables);
      }
      first.frames.clear();
      return;
    }
    const auto has_none = [](const auto& each) { return each.second.variables.empty(); };
    if (std::ranges::all_of(first.frames, has_none)) first.frames.clear();
  }

  // Those that are opened less those that are closed.
  static int64_t braces_of(std::string_view value) {
    int64_t open = 0;
    for (const char c : value) {
      if (c == '{' || c == '(') ++open;
      if (c == '}' || c == ')') --open;
    }
    return open;
  }

  std::string_view text_;
  const std::string& name_;
  std::span<const std::string> wanted_;
  ProblemLog& problems_;
  size_t at_ = 0;
  std::vector<Stack> stacks_;
  std::unordered_map<int64_t, size_t> latest_;  // by thread, which may have stopped several times
  size_t current_ = 0;                          // that frames belong to
  std::optional<size_t> selected_;              // that commands are about
  uint32_t selected_before_ = 0;
  std::optional<Owner> last_;             // the frame printed last
  std::optional<uint32_t> listed_frame_;  // the last one of gdb's backtrace, if it goes on
  bool heads_thread_ = false;  // LLDB: the frame that follows a selected thread is selected
  bool is_listed_ = false;     // the current thread is one of all
  size_t values_left_ = kMostValues;
};

}  // namespace

std::vector<ThreadStack> read_debugger_text(std::string_view text, const std::string& name,
                                            std::span<const std::string> wanted,
                                            ProblemLog& problems) {
  constexpr char kEscape = '\x1b';
  const std::string plain = text.contains(kEscape) ? without_colours(text) : std::string();
  return Reader(plain.empty() ? text : plain, name, wanted, problems).read();
}

}  // namespace telltale
