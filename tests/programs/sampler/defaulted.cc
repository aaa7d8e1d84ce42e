// Destructors and constructors that the compiler writes, and such whose body is empty.
struct Member {
  Member() : number(1) {}
  ~Member() { number = 0; }
  int number;
};

struct Defaulted {
  Defaulted() = default;
  ~Defaulted() = default;
  Member member;
};

struct DefaultedLater {
  ~DefaultedLater();
  Member member;
};
DefaultedLater::~DefaultedLater() = default;

struct Implicit {
  Member member;
};

struct Empty {
  Empty() {}
  ~Empty() {}
  Member member;
};

int main() {
  Defaulted defaulted;
  DefaultedLater later;
  Implicit implicit;
  Empty empty;
  return defaulted.member.number + later.member.number + implicit.member.number +
         empty.member.number - 4;
}
