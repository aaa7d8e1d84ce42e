#include "import/csi/debugger_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace telltale {
namespace {

// Of a text: gdb abbreviates equal elements, so that a short text can have many.
constexpr size_t kMostValues = size_t{1} << 20;
constexpr size_t kMostFrames = 10'000;  // of a thread

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

template <typename Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// The numbers of a value: "3", "{1, 2 <repeats 3 times>, -1}", "([0] = 1, [1] = -1)". Empty if the
// debugger left some out, or there are more than `most`.
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
      const auto number = take_number<int64_t>(text);
      if (!number || numbers.size() == most) return std::nullopt;
      numbers.push_back(*number);
    } else {
      text.remove_prefix(1);
    }
  }
  return numbers;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& name, std::span<const std::string> wanted,
         ProblemLog& problems)
      : text_(text), name_(name), wanted_(wanted), problems_(problems) {}

  std::vector<ThreadStack> read() {
    while (at_ < text_.size()) {
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      const size_t begin = std::exchange(at_, end + 1);
      read_line(trimmed(text_.substr(begin, end - begin)), begin);
    }
    std::erase_if(threads_, [](const ThreadStack& thread) { return thread.frames.empty(); });
    return std::move(threads_);
  }

 private:
  void read_line(std::string_view line, size_t offset) {
    if (line.starts_with("(gdb) ")) line.remove_prefix(6);
    if (line.starts_with("(lldb) ")) return;  // a command
    if (line.starts_with("* ")) line = trimmed(line.substr(2));
    if (line.starts_with("Thread ") || line.starts_with("thread #")) return begin_thread(line);
    std::string_view rest = line;
    if (rest.starts_with("frame #")) rest.remove_prefix(6);
    if (rest.starts_with('#')) {
      rest.remove_prefix(1);
      if (const auto number = take_number<uint32_t>(rest)) return begin_frame(*number, rest);
    }
    read_variable(line, offset);
  }

  // gdb: "Thread 2 (Thread 0x7f00 (LWP 123)):"; LLDB: "thread #2, name = ...".
  void begin_thread(std::string_view line) {
    ThreadStack thread;
    const size_t process = line.find("LWP ");
    const size_t digits =
        process != std::string_view::npos ? process + 4 : line.find_first_of("123456789");
    std::string_view number = line.substr(std::min(digits, line.size()));
    thread.tid = take_number<int64_t>(number).value_or(0);
    // gdb prints the innermost frame first when it opens a core file.
    const auto has_none = [](const StackFrame& each) { return each.variables.empty(); };
    if (threads_.size() == 1 && threads_.front().tid == 0 &&
        std::ranges::all_of(threads_.front().frames, has_none))
      threads_.clear();
    threads_.push_back(std::move(thread));
    current_ = 0;
    is_left_out_ = false;
  }

  std::vector<StackFrame>& frames() {
    if (threads_.empty()) threads_.push_back({});
    return threads_.back().frames;
  }

  // The frame that variables belong to.
  StackFrame& frame() {
    if (frames().empty()) {
      frames().emplace_back();
      frames().back().interrupted = true;
      current_ = 0;
    }
    return frames()[current_];
  }

  // gdb: "0x401136 in f (n=3) at a.c:15"; LLDB: "0x401136 prog`f(n=3) at a.c:15:7".
  void begin_frame(uint32_t number, std::string_view line) {
    StackFrame each;
    each.interrupted = number == 0;
    if (line.starts_with(':')) line.remove_prefix(1);
    line = trimmed(line);
    const size_t place = line.rfind(" at ");
    std::string_view function = trimmed(line.substr(0, place));
    if (function.starts_with("0x")) {
      std::string_view digits = function.substr(2);
      std::from_chars(digits.data(), digits.data() + digits.size(), each.pc, 16);
      const size_t gap = function.find(' ');
      function = gap == std::string_view::npos ? std::string_view() : trimmed(function.substr(gap));
      if (function.starts_with("in ")) function = trimmed(function.substr(3));
    }
    if (const size_t module = function.find('`'); module != std::string_view::npos) {
      function.remove_prefix(module + 1);
      function = function.substr(0, function.find('('));
    } else {
      function = function.substr(0, function.find(" ("));
    }
    each.symbol = trimmed(function.substr(0, function.find(" [inlined]")));
    if (place != std::string_view::npos) read_place(line.substr(place + 4), each);
    is_left_out_ = false;
    // A frame that is printed again, by `frame`, is the same.
    if (number < frames().size() && frames()[number].symbol == each.symbol) {
      current_ = number;
      return;
    }
    if (frames().size() == kMostFrames) {
      is_left_out_ = true;
      threads_.back().cut = fmt::format("only the innermost {} frames are read", kMostFrames);
      return;
    }
    frames().push_back(std::move(each));
    current_ = frames().size() - 1;
  }

  // "a.c:15" or "a.c:15:7".
  static void read_place(std::string_view place, StackFrame& each) {
    for (int part = 0; part < 2; ++part) {
      const size_t colon = place.rfind(':');
      if (colon == std::string_view::npos) break;
      std::string_view digits = place.substr(colon + 1);
      const auto number = take_number<uint32_t>(digits);
      if (!number || !digits.empty()) break;
      each.line = *number;  // the column first, if there is one
      place = place.substr(0, colon);
    }
    each.file = place;
  }

  // "NAME = VALUE", or "(TYPE) NAME = VALUE"; braces may be on several lines.
  void read_variable(std::string_view line, size_t offset) {
    const size_t sign = line.find(" = ");
    if (sign == std::string_view::npos) return;
    std::string_view name = trimmed(line.substr(0, sign));
    name.remove_prefix(name.find_last_of(" )") + 1);
    if (std::ranges::find(wanted_, name) == wanted_.end()) return;
    std::string value(line.substr(sign + 3));
    int64_t open = braces_of(value);
    while (open > 0 && at_ < text_.size()) {
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      const std::string_view more = text_.substr(at_, end - at_);
      open += braces_of(more);
      value += ' ';
      value += more;
      at_ = end + 1;
    }
    StackVariable variable{.name = std::string(name), .values = {}, .missing = {}};
    if (auto numbers = numbers_of(value, values_left_); numbers && !numbers->empty() && open <= 0) {
      values_left_ -= numbers->size();
      variable.values = *std::move(numbers);
    } else {
      variable.missing = "the text has no numbers, or not all (gdb: set print elements unlimited)";
      problems_.add({Problem::Kind::corruption, offset, name_, "variable",
                     fmt::format("{} cannot be read", name), 0});
    }
    if (is_left_out_) return;
    std::vector<StackVariable>& variables = frame().variables;
    std::erase_if(variables, [&](const StackVariable& each) { return each.name == name; });
    variables.push_back(std::move(variable));
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
  std::vector<ThreadStack> threads_;
  size_t current_ = 0;        // frame of the last thread
  bool is_left_out_ = false;  // the frame that variables belong to
  size_t values_left_ = kMostValues;
};

}  // namespace

std::vector<ThreadStack> read_debugger_text(std::string_view text, const std::string& name,
                                            std::span<const std::string> wanted,
                                            ProblemLog& problems) {
  return Reader(text, name, wanted, problems).read();
}

}  // namespace telltale
