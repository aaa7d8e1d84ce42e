// An acyclic function is one region: its slow copy is a function, which the entry dispatches to. A
// region extends through calls of acyclic functions: they are not checked again.
// FLAGS: -fsampler-scheme=branches
int next(int value);

static int classify(int value) {
  if (value < 0) return -1;
  return value;
}

int twice(int value) {
  if (value > 100) return 0;
  return classify(value) + classify(next(value));
}
// CHECK-LABEL: define{{.*}} i32 @twice(i32{{.*}}%value)
// CHECK: [[LEFT:%.*]] = sub i32 {{%.*}}, 1
// CHECK-NEXT: store i32 [[LEFT]], ptr @telltale.sampler.countdown
// CHECK-NEXT: [[DUE:%.*]] = icmp slt i32 [[LEFT]], 0
// CHECK-NEXT: br i1 [[DUE]]
// CHECK-NOT: counters
// CHECK: call i32 @classify.fast(
// CHECK: call i32 @classify.fast(
// CHECK: tail call i32 @twice.aside(
// CHECK-NEXT: ret i32

// CHECK-LABEL: define internal i32 @twice.slow(
// CHECK-SAME: [[COLD:#[0-9]+]] {
// CHECK: call void asm sideeffect "incq $0"
// CHECK: call i32 @classify.slow(
// CHECK: call i32 @classify.slow(

// The dispatcher calls the slow copy or, having put the countdown back, the function itself.
// CHECK-LABEL: define internal i32 @twice.aside(
// CHECK: [[OBSERVED:%.*]] = call preserve_mostcc i1 @telltale.sampler.due(
// CHECK-NEXT: br i1 [[OBSERVED]]
// CHECK: add i32 {{%.*}}, 1
// CHECK: store i32 {{%.*}}, ptr @telltale.sampler.countdown
// CHECK: tail call i32 @twice(
// CHECK: tail call i32 @twice.slow(

// CHECK: attributes [[COLD]] = { cold noinline
