// Model shared by the tabs about calls: names, labels, numbers and colours of boxes and functions.

import type {Fact} from '../kit/details';
import type {CallsData} from '../payload';
import {changeOf, ofChange, ofName, ofShare, palette} from '../text/colours';
import {labelsOf} from '../text/names';
import {showChange, showCount, showIn, showShare, words} from '../text/units';
import {CallTrees, type CallTree, type Columns} from './call_tree';

export interface Sums {
  calls: number;
  total: number;
  self: number;
}

export type ColourBy = 'function' | 'module' | 'file' | 'self' | 'change' | 'self-change';

export class CallsModel {
  readonly trees: CallTrees;
  readonly names: string[];
  readonly labels: string[];
  readonly counted: string;
  readonly measured: string;
  readonly compared: {before: string; after: string} | null;

  constructor(readonly data: CallsData) {
    this.trees = new CallTrees(data);
    this.names = data.functions.map(info => info[0]);
    this.labels = labelsOf(this.names);
    this.counted = words(data.units.counted);
    this.measured = words(data.units.measured);
    this.compared = data.compared ?? null;
  }

  show(value: number): string { return showIn(this.data.units.suffix, value); }

  // Factor for the numbers of the first recording if only shares of the whole are compared.
  factor(tree: CallTree, normalised: boolean): number {
    const before = tree.before?.total[0] ?? 0;
    return normalised && before > 0 ? tree.now.total[0] / before : 1;
  }

  // The numbers of a part of `tree`; its root has no calls itself.
  numbers(tree: CallTree, now: Sums, before: Sums | null, normalised: boolean): Fact[] {
    const all = tree.now.total[0];
    if (before === null) {
      return [{name: 'total', value: this.show(now.total), note: `${showShare(now.total, all)} of all`},
              {name: 'self', value: this.show(now.self), note: `${showShare(now.self, all)} of all`},
              {name: this.counted, value: showCount(now.calls)}];
    }
    const factor = this.factor(tree, normalised);
    const pair = (name: string, a: number, b: number, show: (value: number) => string, scale: number): Fact =>
      ({name, value: `${show(a)} \u2192 ${show(b)}`, note: (normalised && scale !== 1 ? 'share ' : '') + showChange(a * scale, b)});
    const share = (columns: Columns, value: number): string => showShare(value, columns.total[0]);
    return [pair('total', before.total, now.total, value => this.show(value), factor),
            pair('self', before.self, now.self, value => this.show(value), factor),
            pair(this.counted, before.calls, now.calls, showCount, 1),
            {name: 'share', value: `${share(tree.before!, before.total)} \u2192 ${share(tree.now, now.total)}`}];
  }

  // Where a function is declared, if known.
  places(fn: number): Fact[] {
    const [name, file, line, module] = this.data.functions[fn];
    const facts = [{name: 'name', value: name}];
    if (file) facts.push({name: 'source', value: line ? `${file}:${line}` : file});
    if (module) facts.push({name: 'module', value: module});
    return facts;
  }

  colours(tree: CallTree, by: ColourBy, normalised: boolean): (node: number) => string {
    const root = palette().root;
    if (by === 'self') return node => (node === 0 ? root : ofShare(tree.now.total[0] > 0 ? tree.now.self[node] / tree.now.total[0] : 0));
    const {before} = tree;
    if (by === 'change' || by === 'self-change') {
      const key = by === 'change' ? 'total' : 'self';
      const factor = this.factor(tree, normalised);
      return node => (before === null ? root : ofChange(changeOf(before[key][node] * factor, tree.now[key][node])));
    }
    const cache: string[] = [];
    const group = {function: 0, file: 1, module: 3}[by];
    return node => {
      const fn = tree.fn[node];
      if (fn < 0) return root;
      return cache[fn] ??= ofName(this.names[fn], String(this.data.functions[fn][group] || '?'));
    };
  }
}

// The root of a thread's tree has no calls itself: it counts its children.
export function sumsAt(tree: CallTree, columns: Columns, node: number): Sums {
  const ofThreads = tree.fn[node] < 0;
  return {calls: ofThreads ? columns.inside[0] : columns.calls[node], total: columns.total[node], self: columns.self[node]};
}

const models = new WeakMap<CallsData, CallsModel>();
export function modelOf(data: CallsData): CallsModel {
  let model = models.get(data);
  if (model === undefined) models.set(data, model = new CallsModel(data));
  return model;
}
