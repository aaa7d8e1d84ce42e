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
long l1, l2, l3, l4, l5, l6, l7, l8, l9;
long wide_target;

void assign_widely(long value) { wide_target = value; }
// CHECK-DAG: @telltale.sampler.tallying = internal global i8 0
// CHECK-DAG: @telltale.sampler.tallies = internal global [128 x i8] zeroinitializer, align 64
// CHECK-LABEL: define {{.*}}void @assign(
// CHECK: call preserve_mostcc void @telltale.sampler.tally(ptr @telltale.sampler.tallies,
// As many pairs of 64 bits are compared here.
// CHECK-LABEL: define {{.*}}void @assign_wide(
// CHECK-NOT: call {{.*}}@telltale.sampler
// CHECK: ret void
// More than eight are tallied, too.
// CHECK-LABEL: define {{.*}}void @assign_widely(
// CHECK: call preserve_mostcc void @telltale.sampler.tally.{{[0-9]+}}(ptr 
// CHECK-LABEL: define internal preserve_mostcc void @telltale.sampler.tally(
// CHECK: [[BEFORE:%.*]] = call i32 asm sideeffect "movzbl $1, $0\0Amovb $$1, $1", {{.*}} @telltale.sampler.tallying)
// CHECK: [[NESTED:%.*]] = icmp ne i32 [[BEFORE]], 0
// CHECK: br i1 [[NESTED]],
// CHECK: call preserve_mostcc void @telltale.sampler.exact(ptr
// CHECK-NEXT: ret void
// CHECK: call i32 asm sideeffect "vmovd
// CHECK: call preserve_mostcc void @telltale.sampler.add_up(
// CHECK-NEXT: ret void
// CHECK: call void asm sideeffect "movb $$0, $0", {{.*}} @telltale.sampler.tallying)
// CHECK-NEXT: ret void
// CHECK-LABEL: define internal preserve_mostcc void @telltale.sampler.exact(
// CHECK: call preserve_mostcc void @telltale.sampler.compare(ptr
// CHECK-NEXT: ret void
