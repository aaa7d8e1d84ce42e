// -fno-sample: the pairs of an assignment with many operands are counted in bytes, and directly in
// the counters by a signal handler that interrupts this.
// FLAGS: -fsampler-scheme=scalar-pairs -fno-sample
int o1, o2, o3, o4, o5;
int target;

void assign(int value) { target = value; }
void assign_wide(int value) {
  extern long w1, w2, w3, w4, w5;
  w1 = value;
}
// CHECK-DAG: @telltale.sampler.tallying = internal global i8 0
// CHECK-DAG: @telltale.sampler.tallies = internal global [64 x i8] zeroinitializer, align 64
// CHECK-LABEL: define {{.*}}void @assign(
// CHECK: call preserve_mostcc void @telltale.sampler.tally(ptr @telltale.sampler.tallies,
// As many pairs of 64 bits are compared here.
// CHECK-LABEL: define {{.*}}void @assign_wide(
// CHECK-NOT: call {{.*}}@telltale.sampler
// CHECK: ret void
// CHECK-LABEL: define internal preserve_mostcc void @telltale.sampler.tally(
// CHECK: [[BEFORE:%.*]] = call i32 asm sideeffect "movzbl $1, $0\0Amovb $$1, $1", {{.*}} @telltale.sampler.tallying)
// CHECK: [[NESTED:%.*]] = icmp ne i32 [[BEFORE]], 0
// CHECK: br i1 [[NESTED]],
// CHECK: call preserve_mostcc void @telltale.sampler.exact(ptr
// CHECK-NEXT: ret void
// CHECK-COUNT-3: psubb
// CHECK: call void asm sideeffect "movb $$0, $0", {{.*}} @telltale.sampler.tallying)
// CHECK-NEXT: ret void
// CHECK-LABEL: define internal preserve_mostcc void @telltale.sampler.exact(
// CHECK: call preserve_mostcc void @telltale.sampler.compare(ptr
// CHECK-NEXT: ret void
