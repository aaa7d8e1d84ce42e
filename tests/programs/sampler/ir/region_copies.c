// A function with a loop has two copies in one body: the fast copy without sites, the slow copy with
// all. Each region begins with a check.
// FLAGS: -fsampler-scheme=branches -fno-sample-turns
int next(int value);

// CHECK: @telltale.sampler.branches.counters = internal global [2 x i64]
// CHECK-LABEL: define{{.*}} @sum(
int sum(int n) {
  int total = 0;
  for (int i = 0; i < n; i = next(i)) total += i;
  return total;
}
// The check: decrement, compare with 0, and ask the runtime.
// CHECK: call preserve_mostcc i1 @telltale.sampler.due(ptr @telltale.sampler.countdown)
// CHECK: load i32, ptr @telltale.sampler.countdown
// CHECK-NEXT: [[LEFT:%.*]] = sub i32 {{%.*}}, 1
// CHECK-NEXT: store i32 [[LEFT]], ptr @telltale.sampler.countdown
// CHECK-NEXT: [[DUE:%.*]] = icmp slt i32 [[LEFT]], 0
// CHECK-NEXT: br i1 [[DUE]]
// The fast copy of the loop has no counter and ends at a check.
// CHECK: {{^}}for.cond:
// CHECK-NOT: counters
// CHECK: br i1 %cmp, label %for.body, label %for.end
// CHECK: {{^}}for.inc:
// CHECK: br label %telltale.
// CHECK: ret i32
// The slow copy counts the branch, and ends at a check, too.
// CHECK: {{^}}for.cond.slow:
// CHECK: [[COUNTER:%.*]] = getelementptr inbounds i64, ptr @telltale.sampler.branches.counters
// CHECK-NEXT: call void asm sideeffect "incq $0"{{.*}}[[COUNTER]]
// CHECK-NEXT: br i1 %cmp.slow, label %for.body.slow, label %for.end.slow
// CHECK: {{^}}for.inc.slow:
// CHECK: br label %telltale.
// CHECK: ret i32

// CHECK: declare{{.*}} @telltale_sampler_region_due_v1(ptr
// CHECK-LABEL: define internal void @telltale.sampler.register()
// CHECK: call void @telltale_sampler_register_v1(ptr @telltale.sampler.unit)
