// Does a little of everything that Mono's log profiler can write down. Arguments choose the chapters, in order:
//   calls exceptions fault handles finalisers heap monitors threads domains contexts busy
// with none, all of them but `busy`. Says on standard output what it did, as "NAME NUMBER" lines.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Remoting.Contexts;
using System.Threading;

// Calls: plain, recursive, mutually recursive, and left by an exception.
static class Calls {
  public static int Leaves;

  [MethodImpl(MethodImplOptions.NoInlining)]
  static int Leaf(int value) { Leaves++; return value ^ 1; }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static int Recurse(int depth) { return depth == 0 ? Leaf(depth) : Recurse(depth - 1) + 1; }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static int Fibonacci(int n) { return n < 2 ? Leaf(n) : Fibonacci(n - 1) + Fibonacci(n - 2); }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static bool Even(int n) { return n == 0 || Odd(n - 1); }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static bool Odd(int n) { return n != 0 && Even(n - 1); }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Throwing(int depth) {
    if (depth == 0) throw new InvalidOperationException("from the bottom");
    Throwing(depth - 1);
  }

  public static void Run() {
    for (int i = 0; i < 20; i++) Leaf(i);
    Recurse(40);
    Fibonacci(12);
    Even(15);
    for (int i = 0; i < 5; i++) {
      try { Throwing(6); } catch (InvalidOperationException) { }
    }
    Console.WriteLine("leaves {0}", Leaves);
  }
}

// Exceptions through catch, filter, finally and fault clauses.
static class Exceptions {
  static int caught, filtered, finals;

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Throw(string what) {
    if (what == "argument") throw new ArgumentException(what);
    throw new NotSupportedException(what);
  }

  public static void Run() {
    for (int i = 0; i < 7; i++) {
      try { Throw("argument"); } catch (ArgumentException) { caught++; }
    }
    for (int i = 0; i < 4; i++) {
      try { Throw("other"); } catch (NotSupportedException e) when (e.Message == "other") { filtered++; }
    }
    for (int i = 0; i < 3; i++) {
      try {
        try { Throw("argument"); } finally { finals++; }
      } catch (ArgumentException) { caught++; }
    }
    try { object nothing = null; nothing.ToString(); } catch (NullReferenceException) { caught++; }
    Console.WriteLine("caught {0}", caught);
    Console.WriteLine("filtered {0}", filtered);
    Console.WriteLine("finals {0}", finals);
  }
}

// A fault clause: C# has none, so the method is made at run time.
public static class Fault {
  public static int Faults;

  public static void Thrower() { throw new FormatException("through a fault clause"); }

  public static void Count() { Faults++; }

  public static void Run() {
    AssemblyBuilder assembly =
        AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Emitted"), AssemblyBuilderAccess.Run);
    TypeBuilder type = assembly.DefineDynamicModule("Emitted").DefineType("Emitted.WithFault", TypeAttributes.Public);
    MethodBuilder method =
        type.DefineMethod("Guarded", MethodAttributes.Public | MethodAttributes.Static, typeof(void), Type.EmptyTypes);
    ILGenerator il = method.GetILGenerator();
    il.BeginExceptionBlock();
    il.Emit(OpCodes.Call, typeof(Fault).GetMethod("Thrower"));
    il.BeginFaultBlock();
    il.Emit(OpCodes.Call, typeof(Fault).GetMethod("Count"));
    il.EndExceptionBlock();
    il.Emit(OpCodes.Ret);
    Action guarded = (Action) Delegate.CreateDelegate(typeof(Action), type.CreateType().GetMethod("Guarded"));
    for (int i = 0; i < 2; i++) {
      try { guarded(); } catch (FormatException) { }
    }
    Console.WriteLine("faults {0}", Faults);
  }
}

class Handled { public int Number = 1; }

// GC handles of the four kinds; some are freed, some stay.
static class Handles {
  static readonly List<GCHandle> kept = new List<GCHandle>();

  public static void Run() {
    GCHandleType[] kinds = { GCHandleType.Weak, GCHandleType.WeakTrackResurrection, GCHandleType.Normal,
                             GCHandleType.Pinned };
    foreach (GCHandleType kind in kinds) {
      for (int i = 0; i < 6; i++) {
        object target = kind == GCHandleType.Pinned ? (object) new byte[64] : new Handled();
        GCHandle handle = GCHandle.Alloc(target, kind);
        if (i % 3 == 0) kept.Add(handle); else handle.Free();
      }
    }
    Console.WriteLine("handles {0}", kept.Count);
  }
}

class Finalised {
  public static int Count;
  ~Finalised() { Interlocked.Increment(ref Count); }
}

static class Finalisers {
  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Make() { for (int i = 0; i < 50; i++) new Finalised(); }

  public static void Run() {
    Make();
    for (int i = 0; i < 4 && Finalised.Count < 40; i++) {
      GC.Collect();
      GC.WaitForPendingFinalizers();
    }
    Console.WriteLine("finalised {0}", Finalised.Count > 0);
  }
}

class Node {
  public Node Next;
  public byte[] Payload;
}
class Leak { public long A = 1, B = 2, C = 3; }
class Gone { public Node Held = new Node(); }

// A heap that grows, moves and shrinks over several full collections.
static class Heap {
  static readonly List<Leak> leaks = new List<Leak>();
  static Node chain;
  static Gone[] gone;
  static object[][] wide;
  static byte[] last;

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Grow(int leakCount, int nodeCount) {
    for (int i = 0; i < leakCount; i++) leaks.Add(new Leak());
    for (int i = 0; i < nodeCount; i++) chain = new Node { Next = chain, Payload = new byte[i % 100] };
  }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Garbage() {
    for (int i = 0; i < 2500; i++) last = new byte[2000];
  }

  public static void Run() {
    gone = new Gone[100];
    for (int i = 0; i < gone.Length; i++) gone[i] = new Gone();
    wide = new object[3][];
    for (int i = 0; i < wide.Length; i++) {
      wide[i] = new object[5000];
      for (int j = 0; j < wide[i].Length; j += 7) wide[i][j] = new Handled();
    }
    for (int round = 0; round < 4; round++) {
      Grow(200 * (round + 1), 50);
      Garbage();
      if (round == 2) gone = null;
      GC.Collect();
    }
    byte[][] large = new byte[20][];
    for (int i = 0; i < large.Length; i++) large[i] = new byte[400000];
    GC.Collect();
    Console.WriteLine("leaks {0}", leaks.Count);
    GC.KeepAlive(large);
  }
}

// Contended locks, and attempts that fail.
static class Monitors {
  static readonly object first = new object();
  static readonly object second = new List<int>();
  static int failures;

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Hold(object what, int milliseconds, ManualResetEvent held) {
    lock (what) {
      held.Set();
      Thread.Sleep(milliseconds);
    }
  }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Wait(object what) { lock (what) { } }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Try(object what) {
    if (Monitor.TryEnter(what, 5)) Monitor.Exit(what); else failures++;
  }

  static void Fight(object what, int milliseconds, Action<object> meet) {
    using (ManualResetEvent held = new ManualResetEvent(false)) {
      Thread holder = new Thread(() => Hold(what, milliseconds, held));
      holder.Name = "Holder";
      holder.Start();
      held.WaitOne();
      meet(what);
      holder.Join();
    }
  }

  public static void Run() {
    for (int i = 0; i < 3; i++) Fight(first, 15, Wait);
    Fight(second, 15, Wait);
    for (int i = 0; i < 2; i++) Fight(second, 30, Try);
    Console.WriteLine("failures {0}", failures);
  }
}

static class Threads {
  public static void Run() {
    List<Thread> all = new List<Thread>();
    for (int i = 0; i < 3; i++) {
      Thread thread = new Thread(() => { Calls.Leaves += 0; new object(); Thread.Sleep(2); });
      if (i != 2) thread.Name = "Worker " + i;
      thread.Start();
      all.Add(thread);
    }
    foreach (Thread thread in all) thread.Join();
    Console.WriteLine("threads {0}", all.Count);
  }
}

public class Visitor : MarshalByRefObject {
  public int Visit(int number) { return new List<int>(new[] { number, 2, 3 }).Count; }
}

static class Domains {
  public static void Run() {
    for (int i = 0; i < 2; i++) {
      AppDomain domain = AppDomain.CreateDomain("Guest " + i);
      Visitor visitor = (Visitor) domain.CreateInstanceAndUnwrap(typeof(Visitor).Assembly.FullName, "Visitor");
      Console.WriteLine("visit {0}", visitor.Visit(i));
      AppDomain.Unload(domain);
    }
  }
}

[Synchronization]
public class Bound : ContextBoundObject {
  public int Double(int number) { return 2 * number; }
}

static class Contexts {
  public static void Run() {
    Console.WriteLine("double {0}", new Bound().Double(21));
    Console.WriteLine("double {0}", new Bound().Double(4));
  }
}

// Keeps the processor for a while, for sampling.
static class Busy {
  [MethodImpl(MethodImplOptions.NoInlining)]
  static double Inner(int rounds) {
    double sum = 0;
    for (int i = 1; i < rounds; i++) sum += Math.Sin(i) / i;
    return sum;
  }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static double Outer(int milliseconds) {
    double sum = 0;
    DateTime end = DateTime.UtcNow.AddMilliseconds(milliseconds);
    while (DateTime.UtcNow < end) sum += Inner(20000) + string.Join(",", new[] { "a", "b" }).Length;
    return sum;
  }

  public static void Run() { Console.WriteLine("busy {0}", Outer(600) != 0); }
}

static class Everything {
  static void Chapter(string name) {
    switch (name) {
      case "calls": Calls.Run(); break;
      case "exceptions": Exceptions.Run(); break;
      case "fault": Fault.Run(); break;
      case "handles": Handles.Run(); break;
      case "finalisers": Finalisers.Run(); break;
      case "heap": Heap.Run(); break;
      case "monitors": Monitors.Run(); break;
      case "threads": Threads.Run(); break;
      case "domains": Domains.Run(); break;
      case "contexts": Contexts.Run(); break;
      case "busy": Busy.Run(); break;
      default: throw new ArgumentException("no chapter " + name);
    }
  }

  static void Main(string[] names) {
    if (names.Length == 0) {
      names = new[] { "calls", "exceptions", "fault", "handles", "finalisers", "heap", "monitors", "threads",
                      "domains", "contexts" };
    }
    foreach (string name in names) Chapter(name);
  }
}
