// Both copies of a function have their own landing pads. Nothing is inserted between a pad's label
// and its landingpad instruction.
// FLAGS: -fsampler-scheme=branches -fno-sample-turns
int risky(int value);

// CHECK-LABEL: define{{.*}} @_Z7carefuli(
int careful(int n) {
  int caught = 0;
  for (int i = 0; i < n; ++i) {
    try {
      if (risky(i) != 0) ++caught;
    } catch (int) {
      --caught;
    }
  }
  return caught;
}
// CHECK: invoke{{.*}} @_Z5riskyi(
// CHECK-NEXT: to label %invoke.cont unwind label %lpad
// CHECK-NOT: incq
// CHECK: {{^}}lpad:
// CHECK-NEXT: landingpad
// CHECK: invoke{{.*}} @_Z5riskyi(
// CHECK-NEXT: to label %invoke.cont.slow unwind label %lpad.slow
// CHECK: {{^}}invoke.cont.slow:
// CHECK: call void asm sideeffect "incq $0"
// CHECK: {{^}}lpad.slow:
// CHECK-NEXT: landingpad
// CHECK: {{^}}catch.slow:
// CHECK: call{{.*}} @__cxa_begin_catch(
// CHECK-LABEL: declare{{.*}} @__gxx_personality_v0(
