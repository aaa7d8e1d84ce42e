#include "model/ball_larus.h"

#include <algorithm>
#include <utility>

#include "base/add_saturated.h"

namespace telltale {
namespace {

// Builds a NumberedGraph. Back edges are represented three times while paths are numbered: the edge
// itself, which counts for nothing, a phony edge from the entry to its target, and a phony edge
// from its source to the exit.
class Numbering {
 public:
  explicit Numbering(std::span<const FlowBlock> blocks) : blocks_(blocks) { discover(); }

  NumberedGraph run(const NumberingOptions& options) {
    NumberedGraph result;
    result.discovered = static_cast<std::uint32_t>(nodes_.size());
    result.path_count = count_paths(options.cut_above);
    if (options.numbers_prefixes) {
      while (cut_prefixes(options.most_prefixes))
        result.path_count = count_paths(options.cut_above);
    }
    if (result.path_count > std::min(options.most_paths, kMostPaths)) return result;
    if (options.numbers_prefixes) {
      repeat_loops();
      cut_prefixes(options.most_prefixes);  // counts anew: there are not more
      drop_phony_edges();
      number_prefixes();
      split_critical_edges(result.splits, true);
      print(result);
      return result;
    }
    push_initialisation();
    if (options.stores_at_exit) {
      push_completion();
    } else {
      drop_last_increments();
    }
    drop_phony_edges();
    split_critical_edges(result.splits, false);
    print(result);
    return result;
  }

 private:
  enum class Kind : std::uint8_t { kForward, kBack, kPhonyEntry, kPhonyExit };
  enum class Colour : std::uint8_t { kWhite, kGrey, kBlack };

  struct Edge {
    NumberedEdge out;
    Kind kind = Kind::kForward;
    bool initialises = false;       // only one path leads here, and the sum is still 0
    std::uint32_t successor = 0;    // position in the block's successors
    std::uint32_t phony_entry = 0;  // of a back edge
    std::uint32_t phony_exit = 0;   // of a back edge
  };
  struct Node {
    NumberedNode out;
    Colour colour = Colour::kWhite;
    std::vector<std::uint32_t> out_edges;
    std::vector<std::uint32_t> in_edges;
    std::uint64_t paths = 0;
    std::uint64_t prefixes = 0;  // ways to it
  };

  std::uint32_t add_node(std::uint32_t block) {
    nodes_.push_back({.out = {block}, .out_edges = {}, .in_edges = {}});
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }

  std::uint32_t add_edge(std::uint32_t from, std::uint32_t to, Kind kind, std::uint32_t successor) {
    const auto index = static_cast<std::uint32_t>(edges_.size());
    Edge edge;
    edge.out.from = from;
    edge.out.to = to;
    edge.out.is_back = kind == Kind::kBack;
    edge.kind = kind;
    edge.successor = successor;
    edges_.push_back(edge);
    nodes_[from].out_edges.push_back(index);
    nodes_[to].in_edges.push_back(index);
    return index;
  }

  void visit(std::uint32_t node, std::vector<std::uint32_t>& stack) {
    nodes_[node].colour = Colour::kGrey;
    const FlowBlock& block = blocks_[nodes_[node].out.block];
    if (block.leaves) add_edge(node, kExitNode, Kind::kForward, 0);
    for (std::uint32_t i = 0; i < block.successors.size(); ++i) {
      std::uint32_t& known = node_of_[block.successors[i]];
      if (known == kExitNode) known = add_node(block.successors[i]);
      const std::uint32_t target = known;
      if (nodes_[target].colour == Colour::kGrey) {
        const std::uint32_t back = add_edge(node, target, Kind::kBack, i);
        edges_[back].phony_entry = add_edge(kEntryNode, target, Kind::kPhonyEntry, 0);
        edges_[back].phony_exit = add_edge(node, kExitNode, Kind::kPhonyExit, 0);
        continue;
      }
      add_edge(node, target, Kind::kForward, i);
      if (nodes_[target].colour == Colour::kWhite) stack.push_back(target);
    }
    number_first(node, block.likely);
  }

  // Moves the edge to a successor to the front: the first edge has the weight 0. The phony edge of
  // a back edge follows it.
  void number_first(std::uint32_t node, std::uint32_t successor) {
    std::vector<std::uint32_t>& out = nodes_[node].out_edges;
    const auto first = std::find_if(out.begin(), out.end(), [&](std::uint32_t index) {
      return edges_[index].out.to != kExitNode && edges_[index].kind != Kind::kPhonyEntry &&
             edges_[index].successor == successor;
    });
    if (first == out.end()) return;
    const auto last = first + (edges_[*first].kind == Kind::kBack ? 2 : 1);
    std::rotate(out.begin(), first, last);
  }

  // Depth first; a node gets its id when an edge to it is first seen, and the last successor is
  // visited first. The order decides which edges are back edges in an irreducible loop.
  void discover() {
    // The exit represents "unknown" here: it is never a block.
    node_of_.assign(blocks_.size(), kExitNode);
    add_node(0);
    add_node(NumberedNode::kNoBlock);
    nodes_[kExitNode].colour = Colour::kBlack;
    node_of_[0] = kEntryNode;
    finished_.push_back(kExitNode);
    std::vector<std::uint32_t> stack{kEntryNode};
    while (!stack.empty()) {
      const std::uint32_t node = stack.back();
      if (nodes_[node].colour == Colour::kWhite) {
        visit(node, stack);
        continue;
      }
      stack.pop_back();
      if (nodes_[node].colour == Colour::kBlack) continue;
      nodes_[node].colour = Colour::kBlack;
      finished_.push_back(node);
    }
  }

  std::uint64_t count_paths(std::uint64_t cut_above) {
    nodes_[kExitNode].paths = 1;
    for (const std::uint32_t node : finished_) {
      if (node == kExitNode) continue;
      // The entry comes last, when it has the edges for all cuts.
      if (count_paths_of(node) > cut_above && node != kEntryNode) {
        cut_paths_of(node);
        count_paths_of(node);
      }
    }
    return nodes_[kEntryNode].paths;
  }

  std::uint64_t count_paths_of(std::uint32_t node) {
    std::uint64_t sum = 0;
    for (const std::uint32_t index : nodes_[node].out_edges) {
      Edge& edge = edges_[index];
      if (edge.kind == Kind::kBack) continue;
      edge.out.weight = sum;
      edge.out.increment = sum;
      sum = add_saturated(sum, nodes_[edge.out.to].paths);
    }
    nodes_[node].paths = sum;
    return sum;
  }

  void cut_paths_of(std::uint32_t node) {
    std::vector<std::uint32_t> rearranged;
    const std::vector<std::uint32_t> out = nodes_[node].out_edges;
    for (const std::uint32_t index : out) {
      rearranged.push_back(index);
      if (edges_[index].kind != Kind::kForward || nodes_[edges_[index].out.to].paths == 1) continue;
      // Readers take the place of the edge for the place of the phony one.
      rearranged.push_back(cut(index));
    }
    nodes_[node].out_edges = std::move(rearranged);
  }

  // Ends paths at a forward edge. Returns the phony edge to the exit, which is the last one of the
  // source.
  std::uint32_t cut(std::uint32_t index) {
    const std::uint32_t from = edges_[index].out.from;
    edges_[index].kind = Kind::kBack;
    edges_[index].out.is_back = true;
    const std::uint32_t phony_entry =
        add_edge(kEntryNode, edges_[index].out.to, Kind::kPhonyEntry, 0);
    const std::uint32_t phony_exit = add_edge(from, kExitNode, Kind::kPhonyExit, 0);
    edges_[index].phony_entry = phony_entry;
    edges_[index].phony_exit = phony_exit;
    return phony_exit;
  }

  // Cuts paths before nodes to which too many ways lead. Returns whether there were any.
  bool cut_prefixes(std::uint64_t most) {
    bool has_cut = false;
    nodes_[kEntryNode].prefixes = 1;
    for (std::size_t i = finished_.size() - 1; i-- > 0;) {
      Node& node = nodes_[finished_[i]];
      if (finished_[i] == kExitNode) continue;
      node.prefixes = 0;
      const std::vector<std::uint32_t> in = node.in_edges;
      for (const std::uint32_t index : in)
        node.prefixes = add_saturated(node.prefixes, starts_of(edges_[index]));
      if (node.prefixes <= std::max<std::uint64_t>(most, in.size())) continue;
      node.prefixes = 0;
      for (const std::uint32_t index : in) {
        if (edges_[index].kind == Kind::kForward) cut_before(index);
        node.prefixes += starts_of(edges_[index]);
      }
      has_cut = true;
    }
    return has_cut;
  }

  void cut_before(std::uint32_t index) {
    std::vector<std::uint32_t>& out = nodes_[edges_[index].out.from].out_edges;
    const std::uint32_t phony_exit = cut(index);
    out.pop_back();
    out.insert(std::find(out.begin(), out.end(), index) + 1, phony_exit);
  }

  // Counts the repetitions of loops with a single way from their first block to their end, the most
  // frequent ones first. No path passes two of them, so that one count is enough.
  void repeat_loops() {
    std::vector<std::uint32_t> candidates;
    for (std::uint32_t index = 0; index < edges_.size(); ++index) {
      if (edges_[index].kind == Kind::kBack && closes_single_way(edges_[index]))
        candidates.push_back(index);
    }
    std::stable_sort(candidates.begin(), candidates.end(), [&](std::uint32_t a, std::uint32_t b) {
      return frequency(edges_[a]) > frequency(edges_[b]);
    });
    std::vector<bool> after(nodes_.size(), false);
    std::vector<bool> before(nodes_.size(), false);
    for (const std::uint32_t index : candidates) {
      const std::uint32_t first = edges_[index].out.to;
      if (after[first] || before[first]) continue;
      edges_[index].out.repeats = true;
      mark(first, after, &Node::out_edges, &NumberedEdge::to);
      mark(first, before, &Node::in_edges, &NumberedEdge::from);
    }
  }

  // Marks the nodes that forward edges lead to or come from.
  void mark(std::uint32_t first, std::vector<bool>& marked,
            std::vector<std::uint32_t> Node::* edges_of, std::uint32_t PathEdge::* end_of) const {
    std::vector<std::uint32_t> pending{first};
    while (!pending.empty()) {
      const std::uint32_t node = pending.back();
      pending.pop_back();
      if (marked[node]) continue;
      marked[node] = true;
      for (const std::uint32_t index : nodes_[node].*edges_of) {
        if (edges_[index].kind == Kind::kForward) pending.push_back(edges_[index].out.*end_of);
      }
    }
  }

  // Whether one way, without other edges into its blocks, leads from the back edge's target to its
  // source.
  [[nodiscard]] bool closes_single_way(const Edge& back) const {
    std::uint32_t node = back.out.from;
    // A block that always follows itself: a position at its end would not tell that it began anew.
    if (node == back.out.to && blocks_[nodes_[node].out.block].successors.size() == 1) return false;
    while (node != back.out.to) {
      const std::vector<std::uint32_t>& in = nodes_[node].in_edges;
      if (in.size() != 1 || edges_[in.front()].kind != Kind::kForward) return false;
      node = edges_[in.front()].out.from;
    }
    return true;
  }

  // The ways through an edge to its target.
  [[nodiscard]] std::uint64_t starts_of(const Edge& edge) const {
    if (edge.kind == Kind::kBack) return edge.out.repeats ? 0 : 1;
    return edge.kind == Kind::kForward ? nodes_[edge.out.from].prefixes : 0;
  }

  [[nodiscard]] std::uint64_t frequency(const Edge& edge) const {
    const std::uint32_t block = nodes_[edge.out.from].out.block;
    if (block == NumberedNode::kNoBlock) return 0;
    const std::vector<std::uint64_t>& known = blocks_[block].frequencies;
    return edge.successor < known.size() ? known[edge.successor] : 0;
  }

  // An edge that must be split for its code needs a jump, too.
  [[nodiscard]] std::uint64_t cost_of_increment(const Edge& edge) const {
    const std::uint64_t times = frequency(edge);
    return nodes_[edge.out.from].out_edges.size() > 1 ? add_saturated(times, times) : times;
  }

  // Each edge into a node gets a range of sums; the first one, the most expensive, has no code.
  void number_prefixes() {
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
      std::vector<std::uint32_t> in = nodes_[node].in_edges;
      std::stable_sort(in.begin(), in.end(), [&](std::uint32_t a, std::uint32_t b) {
        const Edge& first = edges_[a];
        const Edge& second = edges_[b];
        // The number of a back edge costs nothing.
        if (first.out.is_back != second.out.is_back) return second.out.is_back;
        return cost_of_increment(first) > cost_of_increment(second);
      });
      std::uint64_t next = 0;
      for (const std::uint32_t index : in) {
        edges_[index].out.increment = node == kExitNode ? 0 : next;
        edges_[index].out.exit_increment = 0;
        next += starts_of(edges_[index]);
      }
    }
  }

  // Moves increments away from the entry as long as a node has a single predecessor.
  void push_initialisation() {
    std::vector<std::uint32_t> pending;
    const auto push_into = [&](std::uint32_t node, std::uint64_t increment) {
      for (const std::uint32_t index : nodes_[node].out_edges) {
        if (edges_[index].kind == Kind::kBack) continue;
        edges_[index].out.increment += increment;
        edges_[index].initialises = true;
        pending.push_back(index);
      }
    };
    push_into(kEntryNode, 0);
    while (!pending.empty()) {
      Edge& edge = edges_[pending.back()];
      pending.pop_back();
      const std::uint32_t target = edge.out.to;
      if (target == kExitNode || nodes_[target].in_edges.size() > 1) continue;
      edge.initialises = false;
      push_into(target, std::exchange(edge.out.increment, 0));
    }
  }

  // Moves the places where a path is complete away from the exit as long as a node has a single
  // successor.
  void push_completion() {
    std::vector<std::uint32_t> pending = nodes_[kExitNode].in_edges;
    for (const std::uint32_t index : pending) edges_[index].out.completes = true;
    while (!pending.empty()) {
      Edge& edge = edges_[pending.back()];
      pending.pop_back();
      const Node& source = nodes_[edge.out.from];
      if (source.out_edges.size() > 1 || edge.out.from == kEntryNode || edge.initialises) continue;
      edge.out.completes = false;
      const std::uint64_t increment = std::exchange(edge.out.increment, 0);
      for (const std::uint32_t index : source.in_edges) {
        edges_[index].out.increment += increment;
        edges_[index].out.completes = true;
        pending.push_back(index);
      }
    }
  }

  // Nobody looks at the sum at the exit.
  void drop_last_increments() {
    for (const std::uint32_t index : nodes_[kExitNode].in_edges) {
      if (edges_[index].kind == Kind::kForward) edges_[index].out.increment = 0;
    }
  }

  void drop_phony_edges() {
    const auto is_phony = [&](std::uint32_t index) {
      return edges_[index].kind == Kind::kPhonyEntry || edges_[index].kind == Kind::kPhonyExit;
    };
    for (Node& node : nodes_) {
      std::erase_if(node.out_edges, is_phony);
      std::erase_if(node.in_edges, is_phony);
    }
    for (Edge& edge : edges_) {
      if (edge.kind != Kind::kBack) continue;
      edge.out.weight = edges_[edge.phony_entry].out.weight;
      edge.out.increment = edges_[edge.phony_entry].out.increment;
      edge.out.exit_increment = edges_[edge.phony_exit].out.increment;
      edge.out.completes = !edge.out.repeats;
    }
  }

  // Puts a node into the edge. The first half keeps the numbers of a forward edge, unless they are
  // those of prefixes; the second half keeps those of a back edge.
  void split(std::uint32_t index, std::vector<SplitEdge>& splits, bool has_prefixes) {
    const std::uint32_t middle = add_node(NumberedNode::kNoBlock);
    const Edge whole = edges_[index];
    std::vector<std::uint32_t>& into = nodes_[whole.out.to].in_edges;
    const auto position = std::find(into.begin(), into.end(), index) - into.begin();
    const std::uint32_t second = add_edge(middle, whole.out.to, whole.kind, 0);
    // The second half takes the edge's place among the target's predecessors.
    std::vector<std::uint32_t>& joined = nodes_[whole.out.to].in_edges;
    joined.pop_back();
    joined[static_cast<std::size_t>(position)] = second;
    nodes_[middle].in_edges.push_back(index);
    edges_[index].out.to = middle;
    if (whole.kind == Kind::kBack || has_prefixes) {
      edges_[second].out = whole.out;
      edges_[second].out.from = middle;
      edges_[index].kind = Kind::kForward;
      NumberedEdge& first = edges_[index].out;
      first.is_back = first.completes = first.repeats = false;
      first.increment = first.weight = first.exit_increment = 0;
    }
    splits.push_back({middle, nodes_[whole.out.from].out.block, whole.successor});
  }

  // Decides where the code of each edge is, in the order in which csi-cc inserts it, which decides
  // the ids of split nodes.
  void split_critical_edges(std::vector<SplitEdge>& splits, bool numbers_prefixes) {
    std::vector<std::size_t> next(nodes_.size(), 0);
    std::vector<std::uint32_t> stack{kEntryNode};
    while (!stack.empty()) {
      const std::uint32_t node = stack.back();
      if (next[node] == nodes_[node].out_edges.size()) {
        stack.pop_back();
        continue;
      }
      const std::uint32_t index = nodes_[node].out_edges[next[node]++];
      const bool one_successor = nodes_[node].out_edges.size() == 1;
      if (!one_successor && nodes_[edges_[index].out.to].in_edges.size() > 1) {
        split(index, splits, numbers_prefixes);
        next.push_back(0);
      }
      edges_[index].out.place =
          one_successor ? PathCodePlace::kEndOfSource : PathCodePlace::kStartOfTarget;
      stack.push_back(edges_[index].out.to);
    }
  }

  void print(NumberedGraph& result) const {
    for (const Node& node : nodes_) result.nodes.push_back(node.out);
    std::vector<bool> printed(nodes_.size(), false);
    result.print_order = {kExitNode, kEntryNode};
    printed[kExitNode] = printed[kEntryNode] = true;
    std::vector<std::uint32_t> queue = nodes_[kEntryNode].out_edges;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const NumberedEdge& edge = edges_[queue[i]].out;
      result.edges.push_back(edge);
      if (printed[edge.to]) continue;
      printed[edge.to] = true;
      result.print_order.push_back(edge.to);
      const std::vector<std::uint32_t>& more = nodes_[edge.to].out_edges;
      queue.insert(queue.end(), more.begin(), more.end());
    }
  }

  std::span<const FlowBlock> blocks_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> node_of_;   // by block; kExitNode if not discovered
  std::vector<std::uint32_t> finished_;  // successors before predecessors, back edges apart
};

}  // namespace

NumberedGraph number_paths(std::span<const FlowBlock> blocks, const NumberingOptions& options) {
  return Numbering(blocks).run(options);
}

bool stores_numbers(const NumberedGraph& graph) {
  return std::any_of(graph.edges.begin(), graph.edges.end(),
                     [](const NumberedEdge& edge) { return edge.completes; });
}

}  // namespace telltale
