// OpenMP regions of most kinds. What is printed does not depend on the number of threads.
#include <stdio.h>

#ifdef _OPENMP
int omp_get_thread_num(void);
#else
static int omp_get_thread_num(void) { return 0; }
#endif

static int calls;
static int shared_total;

static int square(int n) {
#pragma omp atomic
  calls++;
  return n * n;
}

static int for_loops(int n) {
  int sum = 0;
  int last = -1;
#pragma omp parallel for reduction(+ : sum) lastprivate(last) schedule(static, 2)
  for (int i = 0; i < n; i++) {
    int mine = square(i);
    if (mine > 10) sum += mine;
    last = mine;
  }
  return sum + last;
}

static int nests(int n) {
  int hits = 0;
#pragma omp parallel for collapse(2) reduction(+ : hits)
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      if (i < k && square(k) > i) hits++;
#pragma omp simd reduction(+ : hits)
  for (int i = 0; i < n; i++) hits += i % 2 ? 1 : 2;
  return hits;
}

static int blocks(int n) {
  int seen[4] = {0, 0, 0, 0};
#pragma omp parallel num_threads(3) firstprivate(n)
  {
    int own = n;
    n += omp_get_thread_num();
    own -= n > 100 ? 1 : 0;
#pragma omp critical
    {
      shared_total += own;
      if (own > 0) seen[0]++;
    }
#pragma omp barrier
#pragma omp single
    seen[1] = square(own);
#pragma omp sections
    {
      seen[2] = square(3) > 8 ? 1 : 0;
#pragma omp section
      if (own) seen[3] = 5;
    }
#pragma omp for ordered
    for (int i = 0; i < 6; i++) {
#pragma omp ordered
      shared_total = shared_total * 3 % 1001 + i;
    }
  }
  return seen[0] * 1000 + seen[1] * 100 + seen[2] * 10 + seen[3];
}

static int tasks(int n) {
  int left = 0;
  int right = 0;
  if (n < 2) return n;
#pragma omp task shared(left)
  left = tasks(n - 1);
#pragma omp task shared(right)
  right = tasks(n - 2);
#pragma omp taskwait
  return left + right;
}

int main(void) {
  int fibonacci = 0;
  printf("%d %d\n", for_loops(20), nests(7));
  printf("%d %d\n", blocks(4), shared_total);
#pragma omp parallel
#pragma omp master
  fibonacci = tasks(9);
#pragma omp taskloop shared(calls)
  for (int i = 0; i < 5; i++) square(i);
  printf("%d %d\n", fibonacci, calls);
  return 0;
}
