// What cppcheck reads in sampler_evidence.py, many times in one file.
namespace {
template <typename T>
struct List {
  T* first = nullptr;
  unsigned size = 0;
  void push(T value);
  ~List() { delete[] first; }
};
template <typename T>
void List<T>::push(T value) {
  T* grown = new T[size + 1];
  for (unsigned i = 0; i < size; ++i) grown[i] = first[i];
  grown[size++] = value;
  delete[] first;
  first = grown;
}
int parse(const char* text, int* out) {
  int sign = 1, value = 0;
  if (text == nullptr) return -1;
  while (*text == ' ' || *text == 9) ++text;
  if (*text == '-') {
    sign = -1;
    ++text;
  }
  for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + (*text - '0');
  switch (*text) {
    case 0:
      break;
    case ';':
    case ',':
      ++text;
      break;
    default:
      return 1;
  }
  if (out) *out = sign * value;
  return value > 1000 ? 2 : 0;
}
int fill(List<int>& list, const char** texts, unsigned count) {
  int failed = 0, number;
  for (unsigned i = 0; i < count; ++i) {
    if (parse(texts[i], &number) != 0) {
      ++failed;
      continue;
    }
    list.push(number);
  }
  return failed;
}
}  // namespace
