// Destructors that optimisation removes where the Sampler does not observe them. They are called by aliases.
#include <cstdlib>

struct Base {
  virtual ~Base() = 0;
};

struct Derived : Base {
  int value;
  virtual ~Derived();
};

Derived::~Derived() {} // ran

void makes_one() {
  Derived one; // ran
} // ran

int main() {
  makes_one(); // ran
  std::abort(); // ran
}

Base::~Base() {} // ran
