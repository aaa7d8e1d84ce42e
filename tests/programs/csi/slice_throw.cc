// fill() leaves a null pointer in the box, and by an exception; use() then follows it.
struct Box {
  int* value;
};

[[gnu::noinline]] static void fill(Box& box, int* with) {
  box.value = with; /* in the slice */
  if (with == nullptr) throw 1;
}

[[gnu::noinline]] static int use(const Box& box) { return *box.value; /* in the slice */ }

int main(int argc, char**) {
  int number = argc;
  Box box{&number};
  try {
    fill(box, argc > 5 ? &number : nullptr); /* in the slice */
  } catch (int) {
  }
  return use(box); /* in the slice */
}
