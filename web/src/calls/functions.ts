// A tree summed by function.

import type {CallTree, Columns} from './call_tree';

export interface FunctionSums {
  fn: number;
  calls: number;
  total: number;  // of calls that are inside no other call of the function
  self: number;
}
export interface FunctionRow extends FunctionSums {
  before: FunctionSums | null;
}

function sumsOf(tree: CallTree, columns: Columns): Map<number, FunctionSums> {
  const sums = new Map<number, FunctionSums>();
  const open = new Map<number, number>();  // function -> where its outermost open node ends
  for (let i = 1; i < tree.size; i++) {
    const fn = tree.fn[i];
    let sum = sums.get(fn);
    if (sum === undefined) sums.set(fn, sum = {fn, calls: 0, total: 0, self: 0});
    sum.calls += columns.calls[i];
    sum.self += columns.self[i];
    if ((open.get(fn) ?? 0) > i) continue;
    open.set(fn, tree.end[i]);
    sum.total += columns.total[i];
  }
  return sums;
}

const known = new WeakMap<CallTree, FunctionRow[]>();

// The functions of a tree, in no order.
export function functionsOf(tree: CallTree): FunctionRow[] {
  let rows = known.get(tree);
  if (rows !== undefined) return rows;
  const before = tree.before === null ? null : sumsOf(tree, tree.before);
  rows = [...sumsOf(tree, tree.now).values()].map(sum => ({...sum, before: before?.get(sum.fn) ?? null}));
  known.set(tree, rows);
  return rows;
}
