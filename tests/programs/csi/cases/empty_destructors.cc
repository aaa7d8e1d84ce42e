// Destructors that do nothing, so that their calls are removed: by the optimiser, and by clang.
static volatile int count;

struct Base {
  virtual ~Base();
};
Base::~Base() {
  count = count + 1; // ran
} // ran

struct Derived : Base {
  ~Derived() override {} // ran
};

struct Ends {
  ~Ends();
  int value = 1;
};
Ends::~Ends() {
} // ran
static Ends ends;

struct NeverEnds {
  ~NeverEnds();
};
NeverEnds::~NeverEnds() {
} // not

int main() {
  Derived derived; // ran
  if (count == 5) // ran
    NeverEnds never; // not
  count = count + ends.value; // ran
  return 0; // ran
}
