// Trees around one function: its callers and callees, summed over all paths. A nested call of the function belongs
// to the outer one, so that no time counts twice.

import {CallTree, type Columns} from './call_tree';

interface Draft {
  fn: number;
  calls: number;
  total: number;
  self: number;
  beforeCalls: number;
  beforeTotal: number;
  beforeSelf: number;
  children: Map<number, Draft>;
}

const draft = (fn: number): Draft => ({fn, calls: 0, total: 0, self: 0, beforeCalls: 0, beforeTotal: 0, beforeSelf: 0, children: new Map()});

function child(of: Draft, fn: number): Draft {
  let made = of.children.get(fn);
  if (made === undefined) of.children.set(fn, made = draft(fn));
  return made;
}

function add(to: Draft, tree: CallTree, node: number, self: boolean): void {
  to.calls += tree.now.calls[node];
  to.total += tree.now.total[node];
  if (self) to.self += tree.now.self[node];
  if (tree.before === null) return;
  to.beforeCalls += tree.before.calls[node];
  to.beforeTotal += tree.before.total[node];
  if (self) to.beforeSelf += tree.before.self[node];
}

// The outermost nodes of a function.
function* outermost(tree: CallTree, fn: number): Generator<number> {
  for (let i = 1; i < tree.size;) {
    if (tree.fn[i] === fn) {
      yield i;
      i = tree.end[i];
    } else {
      i++;
    }
  }
}

// As columns: depth first, the widest callee first. The root is the function.
function finish(title: string, root: Draft, compared: boolean): CallTree {
  const order: {node: Draft; depth: number}[] = [];
  const open = [{node: root, depth: 0}];
  while (open.length > 0) {
    const next = open.pop()!;
    order.push(next);
    const children = [...next.node.children.values()].sort((a, b) => a.total - b.total || b.fn - a.fn);
    for (const node of children) open.push({node, depth: next.depth + 1});
  }
  const column = (get: (node: Draft) => number): Float64Array => Float64Array.from(order, entry => get(entry.node));
  const inside = (calls: Float64Array): Float64Array => calls.slice();
  const columns = (calls: Float64Array, total: Float64Array, self: Float64Array): Columns => ({calls, inside: inside(calls), total, self});
  const now = columns(column(n => n.calls), column(n => n.total), column(n => n.self));
  const before = compared ? columns(column(n => n.beforeCalls), column(n => n.beforeTotal), column(n => n.beforeSelf)) : null;
  const depth = Int32Array.from(order, entry => entry.depth);
  const made = new CallTree(title, depth, Int32Array.from(order, entry => entry.node.fn), now, before, {nodes: 0, share: 0, self: 0});
  for (const side of before === null ? [now] : [now, before]) {
    for (let i = made.size - 1; i > 0; i--) side.inside[made.parent[i]] += side.inside[i];
  }
  return made;
}

export function calleesOf(tree: CallTree, fn: number, title: string): CallTree {
  const root = draft(fn);
  for (const top of outermost(tree, fn)) {
    const path = [root];
    add(root, tree, top, true);
    for (let i = top + 1; i < tree.end[top]; i++) {
      const depth = tree.depth[i] - tree.depth[top];
      const node = child(path[depth - 1], tree.fn[i]);
      add(node, tree, i, true);
      path[depth] = node;
    }
  }
  return finish(title, root, tree.before !== null);
}

// Inverted: the children of a node are its callers. Numbers are those of the calls that reach the function.
export function callersOf(tree: CallTree, fn: number, title: string): CallTree {
  const root = draft(fn);
  for (const bottom of outermost(tree, fn)) {
    let node = root;
    add(root, tree, bottom, true);
    for (let at = tree.parent[bottom]; at > 0; at = tree.parent[at]) {
      node = child(node, tree.fn[at]);
      add(node, tree, bottom, false);
    }
  }
  const made = finish(title, root, tree.before !== null);
  for (const side of made.before === null ? [made.now] : [made.now, made.before]) side.inside.set(side.calls);
  return made;
}
