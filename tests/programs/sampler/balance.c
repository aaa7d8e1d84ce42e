/* Functions of eleven shapes, in which some ways call work() more often than others. Each begins with work(0). */
#include <stdio.h>

extern int calls; /* of work() */
int work(int n);
#pragma sampler_assume_weightless("work")

int one_branch(int a, int b) {
  int sum = work(0);
  if (a) sum += work(1);
  return sum;
}

int two_branches(int a, int b) {
  int sum = work(0);
  if (a) {
    sum += work(1);
  } else {
    sum += work(2);
    sum -= work(b);
    sum += work(3);
  }
  return sum;
}

int one_in_another(int a, int b) {
  int sum = work(0);
  if (a) {
    if (b) {
      sum += work(1);
      sum += work(sum);
    }
  } else {
    sum += work(4);
  }
  return sum + work(5);
}

int chain(int a, int b) {
  int sum = work(0);
  if (a == 0)
    sum += work(1);
  else if (a == 1)
    sum += work(2) + work(3);
  else if (b)
    sum += work(4) + work(5) + work(6);
  return sum;
}

int choice(int a, int b) {
  int sum = work(0);
  switch (a) {
    case 0:
      sum += work(1);
      break;
    case 1:
      sum += work(2) + work(b);
      break;
  }
  return sum;
}

int choice_that_goes_on(int a, int b) {
  int sum = work(0);
  switch (a) {
    case 2:
      sum += work(1);
    case 1:
      sum += work(2);
      if (b) break;
    default:
      sum += work(3) + work(4);
    case 0:
      sum += work(5);
  }
  return sum;
}

int early_end(int a, int b) {
  int sum = work(0);
  if (a) return sum + work(1);
  sum += work(2);
  if (b) return sum;
  return sum + work(3) + work(4);
}

int forward_jump(int a, int b) {
  int sum = work(0);
  if (a) goto end;
  sum += work(1);
  if (b) goto end;
  sum += work(2);
end:
  return sum + work(3);
}

int jump_into_branch(int a, int b) {
  int sum = work(0);
  if (a) goto inside;
  if (b) {
    sum += work(1);
  inside:
    sum += work(2);
  }
  return sum;
}

int operators(int a, int b) {
  int sum = work(0);
  if (work(a) && (work(b) || work(7))) sum += work(1);
  return sum + (b ? work(2) : work(3) + work(4));
}

int last_choice(int a, int b) {
  if (work(0)) return 0;
  switch (a) {
    case 1:
      if (b) {
        work(1);
        return work(2);
      }
      break;
    case 2:
      goto out;
    default:
      return work(3);
  }
  work(4);
out:
  return work(5);
}

typedef int shape(int a, int b);
static shape* const shapes[] = {one_branch,  two_branches,     one_in_another, chain,     choice, choice_that_goes_on, early_end,
                                forward_jump, jump_into_branch, operators,      last_choice};

/* Each shape with all pairs of arguments, ten times: its name's number, what comes out, the most calls of work() on one way. */
int main(void) {
  for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    int sum = 0;
    int most = 0;
    for (int round = 0; round < 10; round++) {
      for (int a = 0; a < 4; a++) {
        for (int b = 0; b < 2; b++) {
          const int before = calls;
          sum = sum * 3 + shapes[i](a, b);
          if (calls - before > most) most = calls - before;
        }
      }
    }
    printf("%d %d\n", sum, most);
  }
  return 0;
}
