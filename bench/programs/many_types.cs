// Makes objects of very many types: each kind of wrapper around each kind of content, of which the second is a wrapper
// again. Argument: rounds.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;

public class Pair<A, B> {
  public A First;
  public B Second;
}

static class ManyTypes {
  static readonly List<object> kept = new List<object>();

  static void Main(string[] arguments) {
    int side = int.Parse(arguments[0]), rounds = int.Parse(arguments[1]);
    AssemblyBuilder assembly =
        AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Kinds"), AssemblyBuilderAccess.Run);
    ModuleBuilder module = assembly.DefineDynamicModule("Kinds");
    Type[] kinds = new Type[side];
    for (int i = 0; i < side; i++)
      kinds[i] = module.DefineType("Shop.Catalogue.Kind" + i, TypeAttributes.Public).CreateType();
    Type[] pairs = new Type[side * side];
    for (int i = 0; i < pairs.Length; i++) pairs[i] = typeof(Pair<,>).MakeGenericType(kinds[i / side], kinds[i % side]);
    for (int round = 0; round < rounds; round++) {
      foreach (Type pair in pairs) kept.Add(Activator.CreateInstance(pair));
      GC.Collect();
    }
    Console.WriteLine(kept.Count);
  }
}
