// The first executions of a loop are observed in its first regions. Its blocks have no budgets of their own, however many
// hotter loops the function has. Code after loops has budgets, and a check that can branch to its slow copy.
// FLAGS: -w -fsampler-scheme=branches -fsampler-adaptive -fthreads -fno-sample-turns
int number_of(int i);
void report(int found);

// CHECK-LABEL: define{{.*}} i32 @search(
// CHECK-NOT: {{^}}telltale.rare
// CHECK: call i32 @hash.fast(
// CHECK-NOT: label %telltale.first
// CHECK: {{^}}for.end:
// CHECK-NEXT: br label %[[FIRST:telltale.first[0-9]*]]
// CHECK: call i32 @hash.fast(
// CHECK-NOT: label %telltale.first
// CHECK: {{^}}for.end33:
// CHECK-NEXT: br label %telltale.first
// CHECK: {{^}}sw.epilog:
// CHECK-NOT: label %telltale.first
// CHECK: {{^}}telltale.body.slow:
// After an observed region, a series may go on.
// CHECK: {{^}}telltale.series{{.*}}:
// CHECK: load i32, ptr %telltale.series
// The check after a loop leads to the slow copy of the code there.
// CHECK: {{^}}[[FIRST]]:
// CHECK: load atomic i8, ptr {{.*}}budgets
// CHECK: mul i32 %{{[0-9]+}}, 8
// CHECK-NEXT: store i32 %{{[0-9]+}}, ptr %telltale.series
// CHECK: store i64 1, ptr %telltale.bank
// CHECK-NEXT: br label %for.end.slow
// CHECK-NOT: {{^}}telltale.rare

// CHECK-LABEL: define{{.*}} i32 @hash.fast(
// CHECK: [[BUDGET:%[0-9]+]] = load atomic i8, ptr {{.*}}budgets{{.*}} monotonic
// CHECK: [[IS_LEFT:%[0-9]+]] = icmp ne i8 [[BUDGET]], 0
// CHECK: br i1 [[IS_LEFT]], label %telltale.instead
static int hash(int number) {
  if (number & 1) return number * 3;
  return number * 5;
}

int search(int mode, int n) {
  int found = 0;
  switch (mode) {
    case 1:
      for (int i = 0; i < n; ++i) {
        if (number_of(i) == 1) found += hash(number_of(i));
      }
      break;
    case 2:
      for (int i = 0; i < n; ++i) {
        for (int k = 0; k < n; ++k) {
          for (int l = 0; l < n; ++l) found += hash(number_of(i + k + l));
        }
      }
      break;
  }
  if (found > 7) report(found);
  return found;
}
