// FLAGS: --trace=pt.schema -path-array-size=4 -O0
// clang-format off: long lines of checks

int loop(int n) {
  int sum = 0;
  do {
    if (n & 1) sum += n;
  } while (--n > 0);
  return sum;
}

// The text, in a section that is not allocated, and the record that leads to it.
// CHECK: module asm "\09.pushsection .debug_PT,\22\22,%progbits"
// CHECK-NEXT: module asm "77101:"
// CHECK-NEXT: module asm "\09.ascii \22#\\012loop\\0121|EXIT\\0120|ENTRY|
// CHECK-SAME: \\0127|-1\\012
// CHECK-SAME: 2->3|0$0\\0122->8|2$2\\012
// CHECK-SAME: 5->7|0$0\\0125->6|1$1\\0127~>2|4$4\\012
// CHECK: module asm "\09.pushsection .debug_telltale_paths,\22\22,%progbits"
// CHECK: module asm "\09.byte 1"
// CHECK: module asm "\09.quad [[KEY:[0-9]+]]"
// CHECK-NEXT: module asm "\09.quad 77101b"

// CHECK-LABEL: define {{.*}} @loop(
// CHECK: %__PT_pathArr = alloca { i64, i64, i64, i64 }, align 8
// CHECK-NEXT: %__PT_arrIndex = alloca { i64 }, align 8
// CHECK-NEXT: %__PT_curPath = alloca { i64 }, align 8
// CHECK: #dbg_declare(ptr %__PT_pathArr, ![[RING:[0-9]+]],
// CHECK: #dbg_declare(ptr %__PT_arrIndex, ![[INDEX:[0-9]+]],
// CHECK: #dbg_declare(ptr %__PT_curPath, ![[SUM:[0-9]+]],
// CHECK-NEXT: store volatile i64 0, ptr %__PT_arrIndex
// CHECK: %[[LAST:[0-9]+]] = getelementptr inbounds{{.*}} [4 x i64], ptr %__PT_pathArr, i64 0, i64 3
// CHECK-NEXT: store volatile i64 -1, ptr %[[LAST]]
// CHECK-NEXT: store volatile i64 0, ptr %__PT_curPath
// Where the variables are.
// CHECK-NEXT: call void asm sideeffect "77102:{{.*}}.asciz \22$1\22\0A\09.asciz \22$2\22\0A\09.asciz \22$0\22{{.*}}", "*m,*m,*m"(ptr elementtype({ i64 }) %__PT_curPath, ptr elementtype({ i64, i64, i64, i64 }) %__PT_pathArr, ptr elementtype({ i64 }) %__PT_arrIndex)
// CHECK-NEXT: call void asm sideeffect "77102:{{.*}}.ascii \22\\026\\000\\000\\000\\002\\200\\000\\000\\000\\000{{.*}}\22\0A\09.quad 77102b\0A
// The end of a block differs from other ends, without text that the assembler would have to parse.
// CHECK: call void asm sideeffect "", "i"(i64 0)
// One piece of assembly is the start of the block, changes the sum and is the position of the new block.
// CHECK: call void asm sideeffect "77102:{{.*}}.ascii \22\\026\\000\\000\\000\\002\\000{{.*}}\0Aaddq $1, $0\0A77102:{{.*}}.ascii \22\\026\\000\\000\\000\\002\\200{{.*}}", "=*m,er,~{flags}"(ptr elementtype(i64) %__PT_curPath, i64 {{[0-9]+}})
// The conditional back edge has a block: the number, the index, the next sum.
// CHECK: %[[AT:[0-9]+]] = load volatile i64, ptr %__PT_arrIndex
// CHECK: %[[NUMBER:[0-9]+]] = load volatile i64, ptr %__PT_curPath
// CHECK-NEXT: %[[SLOT:[0-9]+]] = getelementptr inbounds [4 x i64], ptr %__PT_pathArr, i64 0, i64 %[[AT]]
// CHECK-NEXT: call void asm sideeffect "movq $1, $0\0A77102:{{.*}}.ascii \22\\026\\000\\000\\000\\002\\201{{.*}}", "=*m,er"(ptr elementtype(i64) %[[SLOT]], i64
// CHECK-NEXT: %[[FULL:[0-9]+]] = icmp eq i64 %[[AT]], 3
// CHECK-NEXT: %[[MORE:[0-9]+]] = add nuw nsw i64 %[[AT]], 1
// CHECK-NEXT: %[[NEXT:[0-9]+]] = select i1 %[[FULL]], i64 0, i64 %[[MORE]]
// CHECK-NEXT: call void asm sideeffect "movq $2, $0\0A77102:{{.*}}.ascii \22\\026\\000\\000\\000\\002\\202{{.*}}\0Amovq $3, $1\0A77102:{{.*}}.ascii \22\\026\\000\\000\\000\\002\\200{{.*}}", "=*m,=*m,er,er"(ptr elementtype(i64) %__PT_arrIndex, ptr elementtype(i64) %__PT_curPath, i64 %[[NEXT]], i64 {{[0-9]+}})
// The scope is the function.
// CHECK-DAG: ![[RING]] = !DILocalVariable(name: "__PT_pathArr", scope: ![[FUNCTION:[0-9]+]],
// CHECK-DAG: ![[INDEX]] = !DILocalVariable(name: "__PT_arrIndex", scope: ![[FUNCTION]],
// CHECK-DAG: ![[SUM]] = !DILocalVariable(name: "__PT_curPath", scope: ![[FUNCTION]],
// CHECK-DAG: ![[FUNCTION]] = distinct !DISubprogram(name: "loop"
