/* Values of many types, each beside many of the same, at and around their limits, and beside what
 * the program lacks. */
#include <limits.h>
#include <stdbool.h>

extern int no_number;
extern unsigned no_mask;
extern long long no_sum;

static int numbers[] = {INT_MIN, -1, 0, 1, 7, INT_MAX};
static long long distances[] = {LLONG_MIN, -1LL << 32, INT_MIN, -1, 0, 1, 1LL << 32, LLONG_MAX};
static unsigned masks[] = {0, 1, INT_MAX, INT_MAX + 1U, UINT_MAX - 1, UINT_MAX};

int main(void) {
  int least = INT_MIN, below = -1, none = 0, above = 1, most = INT_MAX, seven = 7, eight = 8;
  unsigned zero = 0, one = 1, half = INT_MAX, more = INT_MAX + 1U, all = UINT_MAX;
  short low = SHRT_MIN, middle = 3, high = SHRT_MAX;
  unsigned char empty = 0, full = UCHAR_MAX;
  long long far = LLONG_MIN, near = 5, away = LLONG_MAX;
  long long lowest = LLONG_MIN, deep = -1LL << 32, under = INT_MIN, past = 1LL << 32, top = LLONG_MAX;
  unsigned long long nothing = 0, unit = 1, word = UINT_MAX, longer = 1ULL << 32, middling = LLONG_MAX,
                     sign = 1ULL << 63, nearly = ULLONG_MAX - 1, whole = ULLONG_MAX, odd = 0x123456789ULL,
                     pattern = 0x8000000080000000ULL;
  const int *first = numbers, *last = numbers + 5, *second = numbers + 1, *missing = 0;
  bool yes = true, no = false;
  /* More often than a byte counts. */
  for (int i = 0; i < 600; i++) {
    int number = numbers[i % 6];
    unsigned mask = masks[i % 6];
    short narrow = (short)number;
    unsigned char byte = (unsigned char)mask;
    long long sum = (long long)number * mask;
    bool is_odd = mask & 1;
    long long distance = distances[i % 8];
    unsigned long long huge = (unsigned long long)distance;
    const int *place = is_odd ? numbers + i % 6 : missing;
    far += distance == lowest || distance > deep || distance < under || distance == past || distance == top;
    odd += huge == nothing || huge > unit || huge < word || huge == longer || huge > middling || huge == sign ||
           huge == nearly || huge == whole || huge > pattern;
    near += place == first || place == last || place == second;
    above += number == least || narrow == low || sum == far || (is_odd ? yes : no) || byte == full;
    seven += number > below && mask > half && mask < all && sum < away && sum > near;
    eight += mask >= more || mask == zero || mask == one || number == most || number > none;
    middle += narrow == high || byte == empty;
  }
  return above + seven + eight + middle == 0;
}
