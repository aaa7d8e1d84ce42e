// A small order server for docs/tour.md: two workers take orders from a queue, price them,
// and store them; some orders are refused by an exception, and large ones are priced recursively.
// It records itself with clang's XRay.
//
//   clang++-22 -std=c++17 -O1 -g -fxray-instrument -fxray-instruction-threshold=1 orders.cc -o
//   orders -pthread XRAY_OPTIONS="xray_logfile_base=orders." ./orders
#include <xray/xray_interface.h>
#include <xray/xray_log_interface.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define TRACED [[clang::xray_always_instrument, gnu::noinline]]
#define UNTRACED [[clang::xray_never_instrument]]

struct Order {
  uint32_t id;
  uint32_t items;
};

class Store {
 public:
  TRACED void save(const Order& order, uint64_t price) {
    const std::lock_guard lock(mutex_);
    total_ += price;
    saved_ += order.id != 0;
  }
  UNTRACED uint64_t total() const { return total_; }

 private:
  std::mutex mutex_;
  uint64_t total_ = 0;
  uint64_t saved_ = 0;
};

TRACED uint64_t look_up_tariff(uint32_t item) {
  uint64_t tariff = item;
  for (int i = 0; i < 200; ++i) tariff = tariff * 6364136223846793005U + 1442695040888963407U;
  return tariff >> 50;
}

TRACED uint64_t price_items(uint32_t first, uint32_t count) {
  if (count <= 2) return look_up_tariff(first);
  return price_items(first, count / 2) + price_items(first + count / 2, count - count / 2);
}

TRACED void validate(const Order& order) {
  if (order.items == 0) throw std::invalid_argument("empty order");
}

TRACED void audit(const Order& order) {
  char text[32];
  const int size = std::snprintf(text, sizeof text, "refused order %u", order.id);
  __xray_customevent(text, static_cast<size_t>(size));
}

[[clang::xray_always_instrument, clang::xray_log_args(1), gnu::noinline]] void handle_order(
    const Order* order, Store* store) {
  try {
    validate(*order);
    store->save(*order, price_items(order->id, order->items));
  } catch (const std::invalid_argument&) {
    audit(*order);
  }
}

TRACED void serve(const std::vector<Order>& orders, size_t worker, Store& store) {
  for (size_t i = worker; i < orders.size(); i += 2) handle_order(&orders[i], &store);
}

UNTRACED int main() {
  __xray_log_select_mode("xray-fdr");
  const char options[] = "func_duration_threshold_us=0 buffer_size=16384 buffer_max=16";
  __xray_log_init_mode("xray-fdr", options);
  __xray_patch();

  std::vector<Order> orders;
  for (uint32_t id = 1; id <= 12; ++id) orders.push_back({id, id % 5 == 0 ? 0 : id % 4 + 1});
  Store store;
  std::thread first(serve, std::cref(orders), 0, std::ref(store));
  std::thread second(serve, std::cref(orders), 1, std::ref(store));
  first.join();
  second.join();

  __xray_log_finalize();
  __xray_log_flushLog();
  std::printf("%llu\n", static_cast<unsigned long long>(store.total()));
}
