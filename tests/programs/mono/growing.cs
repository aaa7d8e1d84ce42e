// Keeps as many more objects alive as each line of standard input says; ends with the input.
using System;
using System.Collections.Generic;

class Leaf
{
    public long Number;
}

static class Growing
{
    static readonly List<Leaf> kept = new List<Leaf>();

    static void Keep(int count)
    {
        for (int i = 0; i < count; ++i) kept.Add(new Leaf { Number = i });
    }

    static void Main()
    {
        Console.WriteLine("ready");
        string line;
        while ((line = Console.ReadLine()) != null)
        {
            Keep(int.Parse(line));
            Console.WriteLine(kept.Count);
        }
    }
}
