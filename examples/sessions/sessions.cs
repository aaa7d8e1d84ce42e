// A server that never forgets a session: what `telltale report` finds in its heap shots.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

class Request { public int Number; public Session Owner; }

class Session {
  public string Name;
  public List<Request> History = new List<Request>();
}

static class Server {
  static readonly Dictionary<int, Session> sessions = new Dictionary<int, Session>();

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Handle(int user, int number) {
    Session session;
    if (!sessions.TryGetValue(user, out session)) {
      session = new Session { Name = "user " + user };
      sessions.Add(user, session);
    }
    session.History.Add(new Request { Number = number, Owner = session });
    if (number % 40 == 7) {
      try { Refuse(number); } catch (InvalidOperationException) { }
    }
  }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Refuse(int number) { throw new InvalidOperationException("request " + number); }

  static void Main() {
    for (int hour = 0; hour < 3; hour++) {
      for (int number = 0; number < 100; number++) Handle(20 * hour + number % 20, number);
      GC.Collect();
    }
    Console.WriteLine(sessions.Count);
  }
}
