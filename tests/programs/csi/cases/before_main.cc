// Constructors of static objects: the optimiser knows what they write, runs them itself, and keeps what they wrote.
static unsigned twice(unsigned number) {
  return number * 2; // ran
}

struct Letter {
  explicit Letter(const char *text);
  Letter(const char *text, bool is_last);
  unsigned value;
};

Letter::Letter(const char *text) {
  value = twice(text[2]); // ran
  if (value == 0) // ran
    value = 1; // not
} // ran

Letter::Letter(const char *text, bool is_last) {
  value = text[is_last ? 2 : 0]; // not
} // not

extern const Letter letter;
const Letter letter{"foo"};

int main() {
  if (letter.value != 2 * 'o') // ran
    return 1; // not
  __builtin_trap();
}
