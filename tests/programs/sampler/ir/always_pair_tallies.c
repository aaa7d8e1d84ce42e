// -fno-sample: the pairs of an assignment with many operands are counted in bytes, and directly in
// the counters by a signal handler that interrupts this.
// FLAGS: -fsampler-scheme=scalar-pairs -fno-sample
int o1, o2, o3, o4, o5, o6, o7, o8, o9;
int target;

void assign(int value) { target = value; }
// CHECK: @telltale.sampler.tallies = internal global
// CHECK: @telltale.sampler.tallying = internal global i8 0
// CHECK-LABEL: define {{.*}}void @assign(
// CHECK: call preserve_mostcc void @telltale.sampler.tally(
// CHECK-LABEL: define internal preserve_mostcc void @telltale.sampler.tally(
// CHECK: [[BEFORE:%.*]] = call i32 asm sideeffect "movzbl ($1), $0\0Amovb $$1, ($1)", {{.*}}(ptr @telltale.sampler.tallying)
// CHECK: [[NESTED:%.*]] = icmp ne i32 [[BEFORE]], 0
// CHECK: br i1 [[NESTED]],
// CHECK: call preserve_mostcc void @telltale.sampler.compare(ptr
// CHECK-NEXT: ret void
// CHECK-COUNT-3: psubb
// CHECK: call void asm sideeffect "movb $$0, ($0)", {{.*}}(ptr @telltale.sampler.tallying)
// CHECK-NEXT: ret void
