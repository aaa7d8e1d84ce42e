#include "transform/region_reach.h"

#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>

#include <map>
#include <set>
#include <vector>

#include "analysis/plain_conditions.h"
#include "transform/acyclic_functions.h"
#include "transform/cloning.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

// In loops, of a region's first 8 observations, two or more are expected to get to the block.
constexpr double kPassedInLoop = 0.25;
// A region with loops in it is observed once; outside of loops, a budget costs little.
constexpr double kPassedElsewhere = 0.9;
// Paths that are less likely are not followed, which bounds the work.
constexpr double kNegligible = 0.01;

}  // namespace

RegionReach::RegionReach(llvm::Function& function, const TranslationUnit& unit,
                         const std::set<Edge>& merged) {
  const PlainConditions plain(function, unit);
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  const llvm::BranchProbabilityInfo probabilities(function, loops);
  const BackEdges back_edges = find_back_edges(&function.getEntryBlock());
  const std::vector<BasicBlock*> order(back_edges.post_order.rbegin(),
                                       back_edges.post_order.rend());
  std::map<const BasicBlock*, std::size_t> rank;
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  const std::set<const BasicBlock*> in_loops = blocks_in_cycles(function);
  std::set<const BasicBlock*> headers{&function.getEntryBlock()};
  for (const Edge& edge : back_edges.edges) {
    if (!merged.contains(edge))
      headers.insert(edge.first->getTerminator()->getSuccessor(edge.second));
  }

  for (const BasicBlock* const header : headers) {
    // An edge that is no back edge leads to a higher rank.
    std::map<std::size_t, double> open{{rank.at(header), 1.0}};
    while (!open.empty()) {
      const auto [number, chance] = *open.begin();
      open.erase(open.begin());
      BasicBlock* const block = order[number];
      if (chance >= (merged.empty() && in_loops.contains(block) ? kPassedInLoop : kPassedElsewhere))
        passed_.insert(block);
      const llvm::Instruction* const end = block->getTerminator();
      for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
        const BasicBlock* const next = end->getSuccessor(i);
        if (back_edges.edges.contains({block, i}) || headers.contains(next)) continue;
        const llvm::BranchProbability taken = probabilities.getEdgeProbability(block, i);
        const double part =
            chance * taken.getNumerator() / llvm::BranchProbability::getDenominator();
        if (part >= kNegligible) open[rank.at(next)] += part;
      }
    }
  }
}

}  // namespace telltale::instrument
