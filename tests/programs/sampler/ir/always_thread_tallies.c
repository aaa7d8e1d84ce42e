// -fno-sample with threads: each thread that has a slot counts the pairs of an assignment with many
// operands in bytes of its own. All others count in counters.
// FLAGS: -fsampler-scheme=scalar-pairs -fno-sample -pthread
int o1, o2, o3, o4, o5;
int target;

void assign(int value) { target = value; }
// Sixteen copies of a block for the sites and one for what the thread is doing.
// CHECK: @telltale.sampler.tallies = internal global [2048 x i8] zeroinitializer, align 128
// CHECK-LABEL: define {{.*}}void @assign(
// CHECK: call preserve_mostcc void @telltale.sampler.tally(ptr @telltale.sampler.tallies,
// CHECK-LABEL: define internal preserve_mostcc void @telltale.sampler.tally(
// CHECK: [[PLACE:%.*]] = call ptr @llvm.threadlocal.address.p0(ptr @telltale_sampler_slot_r)
// CHECK: [[SLOT:%.*]] = load i64, ptr [[PLACE]]
// CHECK: [[SHARES:%.*]] = icmp eq i64 [[SLOT]], 0
// CHECK: br i1 [[SHARES]],
// CHECK: call preserve_mostcc void @telltale.sampler.exact(ptr
// CHECK-NEXT: ret void
// CHECK: [[OTHERS:%.*]] = sub i64 [[SLOT]], 1
// CHECK: [[OFFSET:%.*]] = mul i64 [[OTHERS]], 128
// CHECK: getelementptr i8, ptr %0, i64 [[OFFSET]]
// CHECK: [[STATE:%.*]] = add i64 [[OFFSET]], 64
// CHECK: [[GUARD:%.*]] = getelementptr i8, ptr @telltale.sampler.tallies, i64 [[STATE]]
// CHECK: [[BEFORE:%.*]] = call i32 asm sideeffect "movzbl $1, $0\0Amovb $$1, $1", {{.*}} [[GUARD]])
// CHECK: [[NESTED:%.*]] = icmp ne i32 [[BEFORE]], 0
// CHECK: br i1 [[NESTED]],
// CHECK: call preserve_mostcc void @telltale.sampler.exact(ptr
// CHECK: call i32 asm sideeffect "vmovd
// CHECK: call preserve_mostcc void @telltale.sampler.add_up(
// CHECK: call void asm sideeffect "movb $$0, $0", {{.*}} [[GUARD]])
// CHECK-NEXT: ret void
