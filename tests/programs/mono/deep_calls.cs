// Many calls in few methods: what the benchmark of the call report records. Arguments: rounds, depth.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

class Tree {
  Tree left, right;
  readonly int key;
  Tree(int key) { this.key = key; }

  [MethodImpl(MethodImplOptions.NoInlining)]
  public static Tree Insert(Tree tree, int key) {
    if (tree == null) return new Tree(key);
    if (Less(key, tree.key)) tree.left = Insert(tree.left, key); else tree.right = Insert(tree.right, key);
    return tree;
  }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static bool Less(int a, int b) { return a < b; }

  [MethodImpl(MethodImplOptions.NoInlining)]
  public static int Height(Tree tree) {
    return tree == null ? 0 : 1 + Math.Max(Height(tree.left), Height(tree.right));
  }
}

static class DeepCalls {
  [MethodImpl(MethodImplOptions.NoInlining)]
  static int Work(int seed, int keys) {
    Tree tree = null;
    for (int i = 0; i < keys; i++) {
      seed = seed * 1103515245 + 12345;
      tree = Tree.Insert(tree, (seed >> 8) & 0xffff);
    }
    return Tree.Height(tree);
  }

  static void Main(string[] arguments) {
    int rounds = int.Parse(arguments[0]), keys = int.Parse(arguments[1]);
    Thread other = new Thread(() => { for (int i = 0; i < rounds; i++) Work(i + 1000, keys); });
    other.Name = "Other";
    other.Start();
    for (int i = 0; i < rounds; i++) Work(i, keys);
    other.Join();
    Console.WriteLine("done");
  }
}
