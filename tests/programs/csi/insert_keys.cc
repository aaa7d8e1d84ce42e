// A class with methods that are inlined and that are not, a global variable, and locals of which
// some stay in memory.
#include <cstdio>
#include <memory>

class Tree {
 public:
  explicit Tree(int key) : key_(key) {}
  void insert(int key);
  int height() const {
    const int left = left_ ? left_->height() : 0;
    const int right = right_ ? right_->height() : 0;
    return 1 + (left > right ? left : right);
  }

 private:
  int key_;
  std::unique_ptr<Tree> left_;
  std::unique_ptr<Tree> right_;
};

int spare = 3;

__attribute__((noinline)) void Tree::insert(int key) {
  std::unique_ptr<Tree>& side = key < key_ ? left_ : right_;
  if (side) {
    side->insert(key);
  } else {
    side = std::make_unique<Tree>(key);
  }
}

__attribute__((noinline)) bool read_key(int* key, int from) {
  if (from < 0) return false;
  *key = from * 7919 % 1009 + spare;
  return true;
}

int main(int argc, char**) {
  Tree tree(500);
  for (int i = 0; i < 100 * argc; ++i) {
    int key = 0;
    if (read_key(&key, i)) tree.insert(key);
  }
  std::printf("%d\n", tree.height());
}
