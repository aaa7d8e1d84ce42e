// Sampled pairs are counted in bytes by an out-of-line function. Operands are passed in vector
// registers.
// FLAGS: -fsampler-scheme=scalar-pairs
int next(int value);

int limit;

int advance(int from) {
  int to = next(from);
  return to + limit;
}
// CHECK: @telltale.sampler.scalar-pairs.counters = internal global [9 x i64]
// A block for the three sites, which shares its cache line with no other.
// CHECK: @telltale.sampler.tallies = internal global [64 x i8] zeroinitializer, align 64
// CHECK: @telltale.sampler.blocks = internal constant [1 x { i32, i32, i32 }] [{ i32, i32, i32 } { i32 0, i32 3, i32 0 }]
// CHECK-LABEL: define internal i32 @advance.slow(
// CHECK: insertelement <4 x i32>
// CHECK: call preserve_mostcc void @telltale.sampler.tally(ptr @telltale.sampler.tallies, i32 {{%.*}}, <4 x i32>
// A copy that runs rarely loads the operands again for the next observation: its frame stays small.
// CHECK-NEXT: call void asm sideeffect "", "~{memory}"()
// CHECK-LABEL: define internal preserve_mostcc void @telltale.sampler.tally(
// CHECK: [[HAS:%.*]] = load i8, ptr @telltale_sampler_has_avx2_v1
// CHECK: [[LACKS:%.*]] = icmp eq i8 [[HAS]], 0
// CHECK: br i1 [[LACKS]],
// CHECK: call preserve_mostcc void @telltale.sampler.exact(ptr
// CHECK: call i32 asm sideeffect "vmovd {{.*}}vpcmpgtd {{.*}}vpaddb 0($1), {{.*}}vpaddb 16($1), {{.*}}vpaddb 32($1),
// CHECK: call preserve_mostcc void @telltale.sampler.add_up(
// CHECK-LABEL: define internal preserve_mostcc void @telltale.sampler.add_up(
// CHECK: call void @telltale_sampler_add_up_v3(ptr %0, ptr @telltale.sampler.tallies, ptr @telltale.sampler.blocks, ptr @telltale.sampler.scalar-pairs.counters, i32 3, i32 1, ptr null, i32 0)
