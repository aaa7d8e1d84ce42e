// -fno-sample: few pairs of pointers or unsigned numbers are compared by five instructions each, and
// counted by one, in the counter below or above that of equal ones. Others are left to LLVM.
// FLAGS: -fsampler-scheme=scalar-pairs -fno-sample
const char *first, *second;
unsigned mask, other_mask;
int number, other_number;

void assign(const char* value, unsigned bits, int sum) {
  first = value;
  mask = bits;
  number = sum;
}
// CHECK-LABEL: define {{.*}}void @assign(
// CHECK: call i64 asm sideeffect "xorl ${0:k}, ${0:k}\0Acmpq $2, $1\0Aseta ${0:b}\0Asbbq $$0, $0\0Aincq ${4:c}($3,$0,8)", {{.*}}(ptr {{.*}}, ptr {{.*}}, ptr @telltale.sampler.scalar-pairs.counters, i64 8)
// The comparison with 0.
// CHECK: icmp ugt ptr {{.*}}, null
// CHECK: cmpl $2, $1
// CHECK: icmp sgt i32
// CHECK-NOT: cmpl
// CHECK: ret void
