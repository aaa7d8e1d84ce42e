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
// Four tables of three rows, and sixteen bytes that vector code may touch.
// CHECK: @telltale.sampler.tallies = internal global [28 x i8] zeroinitializer
// CHECK-LABEL: define internal i32 @advance.slow(
// CHECK: insertelement <4 x i32>
// CHECK: call preserve_mostcc void @telltale.sampler.tally(i64 0, i32 {{%.*}}, i64 3, <4 x i32>
// A copy that runs rarely loads the operands again for the next observation: its frame stays small.
// CHECK-NEXT: call void asm sideeffect "", "~{memory}"()
// CHECK-LABEL: define internal preserve_mostcc void @telltale.sampler.tally(
// CHECK: load <16 x i32>
// CHECK-COUNT-3: psubb
// CHECK: call preserve_mostcc void @telltale.sampler.add_up(
// CHECK-LABEL: define internal preserve_mostcc void @telltale.sampler.add_up(
// CHECK: call void @telltale_sampler_add_up_v1(ptr @telltale.sampler.scalar-pairs.counters, ptr @telltale.sampler.tallies, i64 3,
