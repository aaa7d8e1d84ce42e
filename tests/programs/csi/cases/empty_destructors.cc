// Destructors that do nothing, so that their calls are removed: by the optimiser, and by clang.
static volatile int count;

struct Base {
  virtual ~Base();
  virtual void step();
};
Base::~Base() {
  count = count + 1; // ran
} // ran
void Base::step() {
  count = count + 2; // not
} // not

struct Derived : Base {
  ~Derived() override {} // ran
  void step() override;
};
void Derived::step() {
  count = count + 3; // ran
} // ran

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

static Base *volatile shown;

int main() {
  Derived derived; // ran
  shown = &derived; // ran
  shown->step(); // ran
  if (count == 50) // ran
    NeverEnds never; // not
  count = count + ends.value; // ran
  return 0; // ran
}
