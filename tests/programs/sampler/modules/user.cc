#ifdef AS_UNIT
import "header.h";
#else
#include "header.h"
#endif

int main() {
  const int numbers[] = {1, 2, 3, 4};
  Counter counter;
  const Box<int> box;
  const int all = counter.sum() + counter.checked() + box.get();
  return over(numbers, 4) == 2 && all == 20 ? 0 : 1;
}
