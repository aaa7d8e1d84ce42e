// Keeps more objects alive before each of five collections, and lets all of them go before it ends.
using System;
using System.Collections.Generic;

class Session
{
    public string Name;
    public byte[] Body = new byte[100];
}

static class Releasing
{
    static List<Session> kept = new List<Session>();

    static void Keep(int count)
    {
        for (int i = 0; i < count; ++i) kept.Add(new Session { Name = "session " + i });
    }

    static void Main()
    {
        for (int round = 0; round < 5; ++round)
        {
            Keep(2000);
            GC.Collect();
        }
        kept = null;
        Console.WriteLine("done");
    }
}
