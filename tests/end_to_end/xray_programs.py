"""Compiles small real programs with clang's -fxray-instrument for the tests that need them."""
import os
import pathlib
import shutil
import subprocess
import tempfile

COMPILERS = [version for version in ("19", "22") if shutil.which(f"clang++-{version}")]
LLVM_XRAY = shutil.which("llvm-xray-22")
LINKER = shutil.which("ld.lld-19")
CROSS_TARGETS = ["aarch64-linux-gnu", "riscv64-linux-gnu", "loongarch64-linux-gnu", "s390x-linux-gnu",
                 "powerpc64le-linux-gnu", "mips64-linux-gnuabi64", "mips64el-linux-gnuabi64"]

# Classes, templates, a local function, tail calls, an argument logged, a custom event.
PROGRAM = r"""
#include <cstdio>
#include <vector>
namespace ns {
struct Shape {
  int size;
  explicit Shape(int a);
  virtual ~Shape();
  int get(int k) const;
};
Shape::Shape(int a) : size(a) { std::printf("%d\n", a); }
Shape::~Shape() { std::printf("gone\n"); }
[[clang::noinline]] int Shape::get(int k) const { return k < 2 ? size : get(k - 1) + get(k - 2); }
template <class T> [[clang::noinline]] T twice(T v) { std::printf("twice\n"); return v + v; }
}
[[clang::xray_always_instrument, clang::noinline]] static int hidden(int a) { return a * 3; }
[[clang::xray_always_instrument, clang::xray_log_args(1), clang::noinline]] long logged(long v) {
  return v + 1;
}
extern "C" [[clang::noinline]] int tail(int a) { return hidden(a + 1); }
int main(int argc, char**) {
  ns::Shape shape(argc);
  std::vector<int> values;
  values.push_back(shape.get(5));
  __xray_customevent("hello", 5);
#ifdef TYPED
  __xray_typedevent(3, "abc", 3);
#endif
  return tail(values[0]) + ns::twice(argc) + static_cast<int>(ns::twice(2.0) + logged(3)) == 0;
}
"""

FREESTANDING = r"""
__attribute__((noinline)) int leaf(int a) { return a * 3; }
__attribute__((xray_always_instrument, xray_log_args(1), noinline)) int logged(int a) { return a * a; }
int _start(int a) {
  int sum = 0;
  for (int i = 0; i < a; i++) sum += leaf(i) + logged(sum);
  return leaf(sum);
}
void __xray_FunctionEntry(void) {}
void __xray_FunctionExit(void) {}
"""


class Workshop:
    """A folder of its own with the sources; compile() writes its output there. Use as a context manager."""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="telltale-")
        self.path = pathlib.Path(self._folder.name)
        (self.path / "program.cc").write_text(PROGRAM)
        (self.path / "freestanding.c").write_text(FREESTANDING)
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def run(self, *command, **options):
        return subprocess.run([str(part) for part in command], cwd=self.path, check=True, capture_output=True,
                              text=True, timeout=120, **options)

    def compile(self, output, *flags, compiler="22", source="program.cc"):
        self.run(f"clang++-{compiler}" if source.endswith("cc") else f"clang-{compiler}", "-O1", "-g",
                 "-fxray-instrument", "-fxray-instruction-threshold=1", source, *flags, "-o", output)
        return self.path / output


def telltale(*arguments, environment=None, check=True, cwd=None):
    """Runs the built binary."""
    result = subprocess.run([os.environ["TELLTALE"], *map(str, arguments)], capture_output=True, text=True,
                            timeout=120, cwd=cwd, env={**os.environ, "DEBUGINFOD_URLS": "", **(environment or {})})
    if check and result.returncode != 0:
        raise AssertionError(f"telltale {arguments} gave {result.returncode}: {result.stderr}")
    return result
