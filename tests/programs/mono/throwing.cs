// Throws an exception of its own type if it gets an argument; both branches call and catch the same way.
using System;

class Torn : Exception {}

class Program {
  static int Check(int value) {
    try {
      if (value > 0) throw new Torn();
      throw new ArgumentException("expected");
    } catch (Exception) {
      return 1;
    }
  }

  static void Main(string[] arguments) {
    Console.WriteLine(Check(arguments.Length));
  }
}
