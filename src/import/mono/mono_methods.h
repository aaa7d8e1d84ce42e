#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/function_names.h"

namespace telltale {

// Names of the methods of all files of a recording, by assigned id.
class MonoFunctionNames final : public FunctionNames {
 public:
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override;
  // A new id. Thread-safe.
  FunctionId add(std::string name);
  // The id of the `occurrence`-th method of this name: an existing one of another file, or a new
  // one.
  FunctionId add_shared(const std::string& name, uint32_t occurrence);

 private:
  mutable std::mutex mutex_;
  std::deque<FunctionInfo> infos_;
  std::map<std::pair<std::string, uint32_t>, FunctionId> shared_;
};

// Maps a file's method addresses to dense ids. Initially known are the methods in buffers that hold
// only names. The first lookup of another address reads the whole file (`find_all`), once, so that
// ids depend only on the file and not on the order of lookups.
class MonoMethods {
  struct Slot {
    uint64_t method = 0;
    FunctionId id{};
    bool used = false;
  };
  // Open addressing; immutable once published. Never full.
  struct Table {
    std::vector<Slot> slots;
    unsigned shift = 0;  // 64 - log2(slots)
    size_t count = 0;
  };

 public:
  // Method addresses with their names, if known, in file order.
  struct Found {
    uint64_t method = 0;
    std::string_view name;  // empty: unknown
  };
  using FindAll = std::function<std::vector<Found>()>;

  MonoMethods(std::shared_ptr<MonoFunctionNames> names, bool share_names, FindAll find_all);

  // Call before any lookup.
  void add(const std::vector<Found>& found);

  // For loops: keeps the table's position in local variables.
  class Lookup {
   public:
    explicit Lookup(const MonoMethods& methods) : methods_(methods) { refresh(); }
    [[gnu::always_inline]] FunctionId operator[](uint64_t method) {
      size_t at = static_cast<size_t>((method * kFactor) >> shift_);
      while (true) {
        const Slot& slot = slots_[at];
        if (slot.method == method && slot.used) [[likely]]
          return slot.id;
        if (!slot.used) [[unlikely]] {
          const FunctionId id = methods_.find_rest(method);
          refresh();
          return id;
        }
        at = (at + 1) & mask_;
      }
    }

   private:
    void refresh() {
      const Table* table = methods_.table_.load(std::memory_order_acquire);
      slots_ = table->slots.data();
      mask_ = table->slots.size() - 1;
      shift_ = table->shift;
    }
    const MonoMethods& methods_;
    const Slot* slots_ = nullptr;
    size_t mask_ = 0;
    unsigned shift_ = 0;
  };

  [[nodiscard]] Lookup lookup() const { return Lookup(*this); }
  [[nodiscard]] FunctionId id(uint64_t method) const { return lookup()[method]; }

 private:
  static constexpr uint64_t kFactor = 0x9E37'79B9'7F4A'7C15;

  static Slot& slot_of(Table& table, uint64_t method);
  // A copy of the table with capacity for `more`.
  [[nodiscard]] std::unique_ptr<Table> grown(size_t more) const;
  void publish(std::unique_ptr<Table> table) const;
  void insert(Table& table, const Found& found) const;
  [[gnu::noinline]] FunctionId find_rest(uint64_t method) const;

  std::shared_ptr<MonoFunctionNames> names_;
  bool share_names_;
  FindAll find_all_;
  mutable std::mutex mutex_;
  mutable bool complete_ = false;
  mutable std::map<std::string, uint32_t, std::less<>> occurrences_;  // of names, if shared
  mutable std::vector<std::unique_ptr<Table>> tables_;  // old tables may still be in use
  mutable std::atomic<const Table*> table_ = nullptr;
};

}  // namespace telltale
