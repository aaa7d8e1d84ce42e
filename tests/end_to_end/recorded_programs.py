"""Builds small programs and records them with `telltale run`."""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

TELLTALE = os.environ["TELLTALE"]
RECORDER = pathlib.Path(os.environ["TELLTALE_BINARY_DIR"]) / "runtime" / "xray" / "libtelltale_xray.so"
CLANG = next((name for name in ("clang++-22", "clang++-19") if shutil.which(name)), None)
XRAY_FLAGS = ("-fxray-instrument", "-fxray-instruction-threshold=1")
CALL_FLAGS = ("-finstrument-functions",)

# Two threads (each runs a known tree of calls, argument 1 times), an exception, and an end that argument 2 selects.
PROGRAM = r"""
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <sys/wait.h>
#include <unistd.h>
namespace shop {
[[gnu::noinline]] int price(int n) { asm volatile(""); return n * 3; }
[[gnu::noinline]] int fib(int n) {
  if (n < 2) return n;
  const int a = fib(n - 1);
  int b = fib(n - 2);
  asm volatile("" : "+r"(b));  // neither call is the last thing done
  return a + b;
}
[[gnu::noinline]] void refuse(int n) { if (n % 2 == 0) throw std::runtime_error("even"); }
[[gnu::noinline]] int order(int n) {
  int sum = price(n) + fib(5);
  try { refuse(n); } catch (const std::exception&) { ++sum; }
  return sum;
}
[[gnu::noinline]] void work(int orders) { volatile int sum = 0; for (int i = 0; i < orders; ++i) sum = sum + order(i); }
}
int main(int argc, char** argv) {
  const int orders = argc > 1 ? std::atoi(argv[1]) : 10;
  const std::string end = argc > 2 ? argv[2] : "";
  std::thread one(shop::work, orders);
  std::thread two(shop::work, orders);
  one.join();
  two.join();
  if (end == "fork") {
    const pid_t child = fork();
    if (child == 0) { shop::work(3); _exit(0); }
    waitpid(child, nullptr, 0);
  }
  if (end == "kill") kill(getpid(), SIGKILL);
  if (end == "term") kill(getpid(), SIGTERM);
  if (end == "abort") std::abort();
  if (end == "wait") { std::puts("ready"); std::fflush(stdout); for (;;) pause(); }
  if (end == "echo") { for (int i = 3; i < argc; ++i) std::printf("[%s]", argv[i]); char text[64]; if (std::fgets(text, 64, stdin)) std::fputs(text, stdout); }
  return end == "seven" ? 7 : 0;
}
"""
# Calls of one run with `orders` orders: order -> price, fib(5) (15 calls), refuse; in two threads.
FIB5_CALLS = 15


def expected_calls(orders, threads=2):
    return {"shop::price(int)": orders * threads, "shop::fib(int)": FIB5_CALLS * orders * threads,
            "shop::refuse(int)": orders * threads, "shop::order(int)": orders * threads, "shop::work(int)": threads}


@functools.cache
def folder():
    folder.keeper = tempfile.TemporaryDirectory(prefix="telltale-run-")
    return pathlib.Path(folder.keeper.name)


@functools.cache
def build(compiler, *flags, source=PROGRAM, name="program", after=()):
    """Path of the source compiled; cached."""
    place = pathlib.Path(tempfile.mkdtemp(dir=folder()))
    (place / "source.cc").write_text(source)
    subprocess.run([compiler, "-std=c++17", "-O1", "-g", "-pthread", *flags, "source.cc", *after, "-o", name, "-ldl"], cwd=place,
                   check=True, timeout=120)
    return place / name


def telltale(*arguments, **options):
    environment = {**os.environ, "DEBUGINFOD_URLS": "", **options.pop("environment", {})}
    return subprocess.run([TELLTALE, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env=environment, **options)


class Recorded:
    """A run in a folder of its own: its output, and the resulting recordings."""

    def __init__(self, program, *arguments, options=(), **run):
        self.place = pathlib.Path(tempfile.mkdtemp(dir=folder()))
        self.done = telltale("run", *options, "--", program, *arguments, cwd=self.place, **run)
        self.files = sorted(self.place.glob("*.xray"))

    @property
    def file(self):
        if len(self.files) != 1:
            raise AssertionError(f"{self.files} was left: {self.done.stderr}")
        return self.files[0]


def top(*files, options=()):
    """The rows of `telltale top` by name; fails if standard error is not empty."""
    done = telltale("top", "--json", *options, *files)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"top {files}: {done.returncode} {done.stderr}")
    return {row["function"]: row for row in json.loads(done.stdout)["rows"]}


def calls(*files, options=(), prefix="shop::"):
    return {name: row["calls"] for name, row in top(*files, options=options).items() if name.startswith(prefix)}


def info(file):
    return json.loads(telltale("info", "--json", file).stdout)
