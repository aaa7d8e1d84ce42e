// Call sampling: most calls of a function with loops run code without checks. A clone has the checks;
// its last parameter is the offset of the unit's countdown for the call.
// FLAGS: -fsampler-scheme=branches
int next(int value);

int count(int n) {
  int found = 0;
  while (n != 0) {
    if (n == 7) ++found;
    n = next(n);
  }
  return found;
}
// CHECK: @telltale.sampler.turns = internal global [1 x { i32, i32 }] zeroinitializer
// CHECK-LABEL: define{{.*}} i32 @count(i32{{.*}}%n)
// CHECK: load i32, ptr @telltale.sampler.turns
// CHECK: [[LEFT:%.*]] = sub i32 {{%.*}}, 1
// CHECK-NEXT: store i32 [[LEFT]], ptr @telltale.sampler.turns
// CHECK-NEXT: [[DUE:%.*]] = icmp slt i32 [[LEFT]], 0
// CHECK-NEXT: br i1 [[DUE]]
// CHECK-NOT: @telltale.sampler.countdown
// CHECK-NOT: counters
// CHECK: tail call i32 @count.aside(

// CHECK-LABEL: define internal i32 @count.asking(
// CHECK-SAME: , i64 [[OFFSET:%.*]])
// CHECK: getelementptr inbounds i8, ptr @telltale.sampler.countdown, i64 [[OFFSET]]
// CHECK: call void asm sideeffect "incq $0"

// CHECK-LABEL: define internal i32 @count.aside(
// CHECK: [[RESULT:%.*]] = call preserve_mostcc i32 @telltale.sampler.turn(ptr @telltale.sampler.turns)
// CHECK: [[INDEX:%.*]] = sub i32 [[RESULT]], 1
// CHECK: [[WIDE:%.*]] = zext i32 [[INDEX]] to i64
// CHECK: [[SAMPLED:%.*]] = icmp ne i32 [[RESULT]], 0
// CHECK: [[BYTES:%.*]] = mul i64 [[WIDE]], 8
// CHECK: br i1 [[SAMPLED]]
// CHECK: tail call i32 @count.asking(i32{{.*}}, i64 [[BYTES]])
