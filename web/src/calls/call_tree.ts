// Trees of calls by path. A node is an index: callers come before callees, a subtree is [node, end[node]).

import type {CallsData, CallColumns, RawTree} from '../payload';

export interface Columns {
  calls: Float64Array;   // of the node itself
  inside: Float64Array;  // of the node and everything below it
  total: Float64Array;
  self: Float64Array;
}

export type Measure = 'total' | 'calls';

export class CallTree {
  readonly size: number;
  readonly parent: Int32Array;
  readonly end: Int32Array;
  readonly deepest: number;

  constructor(readonly title: string, readonly depth: Int32Array, readonly fn: Int32Array, readonly now: Columns,
              readonly before: Columns | null, readonly pruned: {nodes: number; share: number; self: number}) {
    this.size = depth.length;
    this.parent = new Int32Array(this.size);
    this.end = new Int32Array(this.size).fill(this.size);
    let deepest = 0;
    const path: number[] = [];
    for (let i = 0; i < this.size; i++) {
      const depth = this.depth[i];
      while (path.length > depth) this.end[path.pop()!] = i;
      this.parent[i] = depth === 0 ? -1 : path[depth - 1];
      path.push(i);
      if (depth > deepest) deepest = depth;
    }
    this.deepest = deepest;
  }

  widths(measure: Measure, side: 'now' | 'before'): Float64Array {
    const columns = side === 'before' && this.before !== null ? this.before : this.now;
    return measure === 'calls' ? columns.inside : columns.total;
  }

  pathOf(node: number): number[] {
    const path: number[] = [];
    for (let at = node; at >= 0; at = this.parent[at]) path.push(at);
    return path.reverse();
  }
}

function columnsOf(raw: Record<string, unknown>, suffix: string): Columns {
  const column = (key: string): Float64Array => Float64Array.from(raw[key] as number[]);
  return {calls: column('calls'), inside: column('inside'), total: column(`total_${suffix}`), self: column(`self_${suffix}`)};
}

export function treeOf(raw: RawTree, suffix: string): CallTree {
  const pruned = {nodes: raw.pruned.nodes, share: raw.pruned.share, self: raw.pruned[`self_${suffix}`] ?? 0};
  const before = raw.before === undefined ? null : columnsOf(raw.before as CallColumns, suffix);
  return new CallTree(raw.title, Int32Array.from(raw.depth), Int32Array.from(raw.function), columnsOf(raw, suffix), before, pruned);
}

// The start of each node, in units of width: callees are laid out consecutively from their caller's start.
const starts = new WeakMap<Float64Array, Float64Array>();
export function startsOf(tree: CallTree, width: Float64Array): Float64Array {
  const known = starts.get(width);
  if (known !== undefined) return known;
  const start = new Float64Array(tree.size);
  const next = new Float64Array(tree.size);
  for (let i = 1; i < tree.size; i++) {
    const parent = tree.parent[i];
    start[i] = next[i] = next[parent];
    next[parent] += width[i];
  }
  starts.set(width, start);
  return start;
}

// The sum over matching nodes below `root`, counting nested matches once, and the number of outermost matches.
export function matchedBelow(tree: CallTree, width: Float64Array, root: number, matches: Uint8Array): {sum: number; nodes: number} {
  let sum = 0;
  let nodes = 0;
  for (let i = root; i < tree.end[root];) {
    if (i !== 0 && matches[tree.fn[i]] === 1) {
      sum += width[i];
      nodes++;
      i = tree.end[i];
    } else {
      i++;
    }
  }
  return {sum, nodes};
}

// The trees of a page's data, each built on first use.
export class CallTrees {
  private readonly built: CallTree[] = [];
  constructor(readonly data: CallsData) {}
  at(index: number): CallTree {
    return this.built[index] ??= treeOf(this.data.trees[index], this.data.units.suffix);
  }
}
