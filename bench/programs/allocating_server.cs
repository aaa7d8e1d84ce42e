// Threads that answer requests: they parse, allocate, look things up in a cache behind a lock, and throw now and then.
// Arguments: threads, requests of each.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;

class Session {
  public readonly string User;
  public readonly byte[] Token = new byte[48];
  public Session(string user) { User = user; }
}

static class AllocatingServer {
  static readonly Dictionary<string, Session> sessions = new Dictionary<string, Session>();
  static readonly Queue<string> oldest = new Queue<string>();

  [MethodImpl(MethodImplOptions.NoInlining)]
  static string[] Parse(string request) { return request.Split('&'); }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static Session Find(string user) {
    lock (sessions) {
      Session session;
      if (sessions.TryGetValue(user, out session)) return session;
      if (oldest.Count > 20000) sessions.Remove(oldest.Dequeue());
      session = new Session(user);
      sessions.Add(user, session);
      oldest.Enqueue(user);
      return session;
    }
  }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static string Render(Session session, List<string> fields) {
    StringBuilder page = new StringBuilder();
    foreach (string field in fields) page.Append('<').Append(field).Append('>');
    return page.Append(session.User).Append(session.Token.Length).ToString();
  }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Check(int number) {
    if (number % 500 == 0) throw new InvalidOperationException("request " + number);
  }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static int Answer(int number) {
    try {
      Check(number);
      List<string> fields = new List<string>();
      foreach (string part in Parse("user=u" + number % 30011 + "&page=" + number % 7 + "&lang=en")) {
        int equals = part.IndexOf('=');
        fields.Add(part.Substring(equals + 1));
      }
      return Render(Find(fields[0]), fields).Length;
    } catch (InvalidOperationException) {
      return 0;
    }
  }

  static void Main(string[] arguments) {
    int count = int.Parse(arguments[0]), requests = int.Parse(arguments[1]);
    List<Thread> threads = new List<Thread>();
    for (int i = 0; i < count; i++) {
      int first = i * 7919;
      Thread thread = new Thread(() => { for (int j = 0; j < requests; j++) Answer(first + j); });
      thread.Name = "Worker " + i;
      threads.Add(thread);
      thread.Start();
    }
    foreach (Thread thread in threads) thread.Join();
    Console.WriteLine(sessions.Count);
  }
}
