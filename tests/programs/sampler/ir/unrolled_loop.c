// A small loop in which nothing else reads the countdown is unrolled four times; the countdown is
// cached in a local variable, and a region has four iterations.
// FLAGS: -fsampler-scheme=branches -fno-sample-turns
// CHECK-LABEL: define{{.*}} @find(
int find(const int *values, int n) {
  int i = 0;
  while (i < n && values[i] != 7) ++i;
  return i;
}
// CHECK: %telltale.countdown = alloca i32
// Three iterations follow the first; the fourth leads to the check.
// CHECK: {{^}}while.body:
// CHECK: br label %[[SECOND:while.cond.again.*]]
// CHECK: {{^}}while.body.again:
// CHECK: br label %while.cond.again
// CHECK: {{^}}while.body.again{{[0-9]+}}:
// CHECK: br label %while.cond.again
// CHECK: {{^}}while.body.again{{[0-9]+}}:
// CHECK: br label %telltale.
// CHECK-NOT: while.body.again{{[0-9]+}}:
// The slow copy has the code of one iteration, and a counter: a region has four iterations however it gets into the loop.
// CHECK: {{^}}telltale.enter:
// CHECK-NEXT: store i32 3, ptr %telltale.iterations
// CHECK-NEXT: br label %while.cond.slow
// CHECK: {{^}}telltale.next:{{.*}} preds = %while.body.slow
// CHECK: br i1 %{{.*}}, label %telltale.end, label %telltale.again
// CHECK: {{^}}while.cond.slow:{{.*}} preds = %telltale.again, %telltale.enter{{$}}
// CHECK-COUNT-2: call void asm sideeffect "incq $0"
// CHECK-NOT: incq
// CHECK-LABEL: define internal preserve_mostcc i1 @telltale.sampler.due(
