// Optimisers push a freeze through chains of additions, in cubic time: blocks with many sites
// have empty pieces of assembly instead. Functions that are called for pairs freeze their
// arguments.
//
// FLAGS: -fsampler-scheme=returns,scalar-pairs -fno-sample
int call(int);

#define FOUR sum += call(sum + n), sum += call(sum + n), sum += call(sum + n), sum += call(sum + n);
#define SIXTEEN FOUR FOUR FOUR FOUR

int few(int n) {
  int sum = 0;
  FOUR return sum;
}
// CHECK-LABEL: define {{.*}}i32 @few(
// CHECK: [[RESULT:%.*]] = call i32 @call(
// CHECK: freeze i32 [[RESULT]]
// CHECK-NOT: asm "",
// CHECK: ret i32

int many(int n) {
  int sum = 0;
  SIXTEEN SIXTEEN return sum;
}
// CHECK-LABEL: define {{.*}}i32 @many(
// CHECK: [[RESULT:%.*]] = call i32 @call(
// CHECK: call i32 asm "", "=r,0"(i32 [[RESULT]])
// CHECK-NOT: freeze
// CHECK: ret i32

int a, b, c, d, e, f, g, h;
int long_pairs(int n) {
  int sum = call(n);
  return sum;
}
// CHECK-LABEL: define {{.*}}i32 @long_pairs(
// CHECK: call {{.*}}void @telltale.sampler.
// CHECK: ret i32
// CHECK: define internal {{.*}}void @telltale.sampler.tally
// CHECK: freeze i32 %1
