// Call sampling with threads, in an executable: each thread counts its own calls.
// FLAGS: -fsampler-scheme=branches -pthread -fPIE
int next(int value);

int count(int n) {
  int found = 0;
  while (n != 0) {
    if (n == 7) ++found;
    n = next(n);
  }
  return found;
}
// CHECK: @[[NAME:telltale.sampler.turns.[0-9a-f]*.1]] = weak_odr thread_local(initialexec) global [1 x { i32, i32 }] zeroinitializer
// CHECK-LABEL: define{{.*}} i32 @count(i32{{.*}}%n)
// CHECK: [[TURNS:%.*]] = call ptr @llvm.threadlocal.address.p0(ptr @[[NAME]])
// CHECK: load i32, ptr [[TURNS]]
// CHECK: [[LEFT:%.*]] = sub i32 {{%.*}}, 1
// CHECK-NEXT: store i32 [[LEFT]], ptr [[TURNS]]
// CHECK-NOT: @telltale_sampler_regions_r
// CHECK: tail call i32 @count.aside(

// CHECK-LABEL: define internal i32 @count.asking(
// CHECK-SAME: , i64 [[OFFSET:%.*]])
// CHECK: [[COUNTDOWNS:%.*]] = call ptr @llvm.threadlocal.address.p0(ptr @telltale_sampler_regions_r)
// CHECK: getelementptr inbounds i8, ptr [[COUNTDOWNS]], i64 [[OFFSET]]

// CHECK-LABEL: define internal preserve_mostcc i32 @telltale.sampler.turn(
// CHECK: call i32 @telltale_sampler_turn_r_v1(ptr %0)
// The runtime gets to know the counters of the thread that registers the unit.
// CHECK-LABEL: define internal void @telltale.sampler.register(
// CHECK: [[OWN:%.*]] = call ptr @llvm.threadlocal.address.p0(ptr @[[NAME]])
// CHECK: store ptr [[OWN]], ptr getelementptr inbounds {{.*}}@telltale.sampler.unit,
