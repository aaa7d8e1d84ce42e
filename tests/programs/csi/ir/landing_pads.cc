// FLAGS: --trace=pt.schema -O1

void may_throw(int);
int handle();

// Each call gets a separate landing pad, which branches to the shared one.
int shared_pad(int n) {
  try {
    may_throw(n);
    may_throw(n + 1);
    may_throw(n + 2);
  } catch (...) {
    return handle();
  }
  return n;
}

// CHECK-LABEL: define {{.*}} @_Z10shared_padi(
// CHECK: unwind label %[[PAD1:.*]], !dbg
// CHECK: unwind label %[[PAD2:.*]], !dbg
// CHECK: unwind label %[[PAD3:.*]], !dbg
// CHECK: [[PAD3]]:
// CHECK-NEXT: landingpad { ptr, i32 }
// CHECK: br label %[[SHARED:.*]], !dbg
// CHECK: [[PAD2]]:
// CHECK-NEXT: landingpad { ptr, i32 }
// CHECK: br label %[[SHARED]], !dbg
// CHECK: [[PAD1]]:
// CHECK-NEXT: landingpad { ptr, i32 }
// CHECK: br label %[[SHARED]], !dbg
// CHECK: [[SHARED]]:
// CHECK-NEXT: phi { ptr, i32 }
