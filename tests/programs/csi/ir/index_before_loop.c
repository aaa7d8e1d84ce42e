// FLAGS: --trace=pt.schema -O1
// clang-format off: long lines of checks

extern volatile int sink;

void where(int n, const int* list) {
  if (n & 1) sink = 1;
  if (n & 2) sink = 2;
  do {
    if (list[n] > 3) sink = 3;
  } while (--n > 0);
}

// CHECK-LABEL: define {{.*}} @where(
// Where the first two ways meet, the sum alone is set.
// CHECK: %[[SLOT:[0-9]+]] = getelementptr inbounds{{.*}} [16 x i64], ptr %__PT_pathArr, i64 0, i64 0
// CHECK-NEXT: call void asm sideeffect "movq $1, $0\0A77102:{{.*}}", "=*m,er"(ptr elementtype(i64) %[[SLOT]], i64 {{[01]}})
// CHECK: "addq $1, $0
// CHECK: if.end4:
// CHECK: call void asm sideeffect "movq $1, $0\0A77102:{{.*}}", "=*m,er"(ptr elementtype(i64) %__PT_arrIndex, i64 0)
// CHECK-NEXT: br label %do.body
// CHECK-NOT: ptr elementtype(i64) %__PT_arrIndex, i64 0)
// CHECK: ret void
