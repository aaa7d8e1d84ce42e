#pragma sampler_exclude_function("quiet")
int quiet(int n) { return n ? 1 : 2; }
int loud(int n) { return n ? 1 : 2; }
int main(void) {
  if (quiet(1))
    return 0;
  return loud(1) ? 3 : 4;
}
