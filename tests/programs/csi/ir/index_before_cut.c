// FLAGS: --trace=pt.schema -O2
// clang-format off: long lines of checks
// More than 2^24 ways lead to the end of a function, so that paths are cut, without a loop before them.

extern volatile int sink;

#define STEP(bit) if (n & 1U << (bit)) sink = bit;
#define STEPS(first) STEP(first) STEP(first + 1) STEP(first + 2) STEP(first + 3) STEP(first + 4) STEP(first + 5) STEP(first + 6)

int many_ways(unsigned n) {
  if (n == 0) return 1;
  STEPS(0)
  STEPS(7)
  STEPS(14)
  STEPS(21)
  return sink;
}

// CHECK-LABEL: define {{.*}} @many_ways(
// Readers need it between the two stores that end a path.
// CHECK: call void asm sideeffect "{{.*}}movq $1, $0\0A77102:{{.*}}", "=*m,er"(ptr elementtype(i64) %__PT_arrIndex, i64 0)
// CHECK-NEXT: %[[NEXT:[0-9]+]] = add nuw nsw i64 0, 1
// CHECK-NEXT: %[[MASKED:[0-9]+]] = and i64 %[[NEXT]], 15
// CHECK-NEXT: %[[SLOT:[0-9]+]] = getelementptr inbounds{{.*}} [16 x i64], ptr %__PT_pathArr, i64 0, i64 %[[MASKED]]
// CHECK-NEXT: call void asm sideeffect "movq $2, $0\0A77102:{{.*}}movq $3, $1\0A77102:{{.*}}", "=*m,=*m,er,er"(ptr elementtype(i64) %[[SLOT]], ptr elementtype(i64) %__PT_arrIndex, i64 {{[0-9]+}}, i64 %[[MASKED]])
