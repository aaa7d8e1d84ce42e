'use strict';
// The trees of the page's data, laid out. A node is an index: callers come before callees, a subtree is [node, end[node]).

const data = JSON.parse(document.getElementById('data').textContent);
const {units} = data;

class Tree {
  constructor(raw) {
    this.title = raw.title;
    this.pruned = raw.pruned;
    this.size = raw.depth.length;
    this.depth = Int32Array.from(raw.depth);
    this.fn = Int32Array.from(raw.function);
    this.calls = Float64Array.from(raw.calls);
    this.self = Float64Array.from(raw[`self_${units.suffix}`]);
    this.widths = {time: Float64Array.from(raw[`total_${units.suffix}`]), calls: Float64Array.from(raw.inside)};
    this.starts = {};
    this.parent = new Int32Array(this.size);
    this.end = new Int32Array(this.size).fill(this.size);
    this.deepest = 0;
    const path = [];
    for (let i = 0; i < this.size; i++) {
      const depth = this.depth[i];
      for (let open = path.length; open > depth; open--) this.end[path.pop()] = i;
      this.parent[i] = depth === 0 ? -1 : path[depth - 1];
      path.push(i);
      if (depth > this.deepest) this.deepest = depth;
    }
  }

  // Where each node begins, in units of the measure.
  startsOf(measure) {
    if (this.starts[measure]) return this.starts[measure];
    const width = this.widths[measure];
    const start = new Float64Array(this.size);
    const next = new Float64Array(this.size);
    for (let i = 1; i < this.size; i++) {
      const parent = this.parent[i];
      start[i] = next[i] = next[parent];
      next[parent] += width[i];
    }
    return this.starts[measure] = start;
  }

  pathOf(node) {
    const path = [];
    for (let at = node; at >= 0; at = this.parent[at]) path.push(at);
    return path.reverse();
  }

  nameOf(node) { return node === 0 ? this.title : data.functions[this.fn[node]][0]; }
}

const built = [];
function treeAt(index) { return built[index] || (built[index] = new Tree(data.trees[index])); }

function showTime(ns) {
  const units = [['ns', 1], ['us', 1e3], ['ms', 1e6], ['s', 1e9]];
  let unit = units[0];
  for (const candidate of units) if (Math.abs(ns) >= candidate[1] * 0.99995) unit = candidate;
  const value = ns / unit[1];
  return (value >= 9999.5 ? value.toFixed(0) : String(Number(value.toPrecision(4)))) + ' ' + unit[0];
}
function showBytes(bytes) {
  const names = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  for (; unit + 1 < names.length && Math.abs(bytes) >= 1023.5; unit++) bytes /= 1024;
  return `${Math.abs(bytes) >= 999.95 ? bytes.toFixed(0) : Number(bytes.toPrecision(4))} ${names[unit]}`;
}
const showValue = value => units.suffix === 'ns' ? showTime(value) : units.suffix === 'bytes' ? showBytes(value) : showCount(value);
const counted = units.counted.replaceAll('_', ' ');
const measured = units.measured.replaceAll('_', ' ');
const showCount = count => count.toLocaleString('en-US');
function showShare(part, whole) {
  const percent = whole > 0 ? 100 * part / whole : 0;
  return (percent >= 99.995 || percent === 0 ? percent.toFixed(0) : percent >= 0.01 ? percent.toFixed(2) : percent.toPrecision(2)) + ' %';
}
