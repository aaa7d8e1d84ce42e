// A heap of many linked objects that every full collection writes down. Arguments: customers, collections.
using System;
using System.Collections.Generic;

class Item {
  public string Name;
  public long Price;
}

class Order {
  public Order Previous;
  public Item[] Items;
  public Customer Customer;
}

class Customer {
  public string Name;
  public Order Last;
  public Dictionary<int, Order> Orders = new Dictionary<int, Order>();
}

static class ObjectHeap {
  static readonly List<Customer> customers = new List<Customer>();

  static Order Take(Customer customer, int number) {
    Item[] items = new Item[1 + number % 4];
    for (int i = 0; i < items.Length; i++) items[i] = new Item { Name = "item " + (number + i), Price = number };
    return new Order { Previous = customer.Last, Items = items, Customer = customer };
  }

  static void Grow(int count) {
    for (int i = 0; i < count; i++) {
      Customer customer = new Customer { Name = "customer " + customers.Count };
      for (int j = 0; j < 3; j++) {
        customer.Last = Take(customer, customers.Count + j);
        customer.Orders[j] = customer.Last;
      }
      customers.Add(customer);
    }
  }

  static void Main(string[] arguments) {
    int count = int.Parse(arguments[0]), collections = int.Parse(arguments[1]);
    for (int i = 0; i < collections; i++) {
      Grow(count / collections);
      GC.Collect();
    }
    Console.WriteLine(customers.Count);
  }
}
