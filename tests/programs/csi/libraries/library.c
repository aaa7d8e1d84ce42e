// Two functions of which one is called. `NAME` tells several libraries apart.
#define JOIN(a, b) a##b
#define FUNCTION(name, suffix) JOIN(name, suffix)

int FUNCTION(used_, NAME)(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i)
    if (i % 3 != 0)
      sum += i;
    else
      sum ^= i;
  return sum;
}

int FUNCTION(unused_, NAME)(int count) { return count * 2; }
