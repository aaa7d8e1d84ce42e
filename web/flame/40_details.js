// What is said of a node, in the tooltip and at the foot of the page. Text only ever goes through textContent.

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function rowsOf(view, node) {
  const {tree} = view;
  const info = node === 0 ? null : data.functions[tree.fn[node]];
  const time = tree.widths.time;
  const inView = node => showShare(view.width[node], view.width[view.zoomed]) + ' of the view';
  const rows = [
    [counted, showCount(node === 0 ? tree.widths.calls[0] : tree.calls[node])],
    ['total', `${showValue(time[node])} \u00b7 ${showShare(time[node], time[0])} of all`],
    ['self', `${showValue(tree.self[node])} \u00b7 ${showShare(tree.self[node], time[0])} of all`],
  ];
  if (node !== 0 && tree.calls[node] > 1) rows.push(['mean', showValue(time[node] / tree.calls[node])]);
  if (view.zoomed !== 0) rows.push(['width', inView(node)]);
  if (view.measure === 'calls') rows.push([`${counted} inside`, `${showCount(tree.widths.calls[node])} \u00b7 ${showShare(tree.widths.calls[node], tree.widths.calls[0])} of all`]);
  if (info && info[1]) rows.push(['file', info[2] ? `${info[1]}:${info[2]}` : info[1]]);
  if (info && info[3]) rows.push(['module', info[3]]);
  rows.push(['depth', String(tree.depth[node])]);
  return rows;
}

class Details {
  constructor(tip, foot) {
    this.tip = tip;
    this.foot = foot;
  }

  showTip(view, node, x, y) {
    if (node < 0) return this.hideTip();
    if (this.tipNode !== node || this.tip.hidden) {
      const table = element('table');
      for (const [name, value] of rowsOf(view, node)) {
        const row = table.appendChild(element('tr'));
        row.append(element('th', name), element('td', value));
      }
      this.tip.replaceChildren(element('div', view.tree.nameOf(node), 'name'), table);
      this.tip.hidden = false;
      this.tipNode = node;
    }
    const box = this.tip.getBoundingClientRect();
    this.tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + 'px';
    this.tip.style.top = (y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10) : y + 18) + 'px';
  }
  hideTip() {
    this.tip.hidden = true;
    this.tipNode = -1;
  }

  showFoot(view, node) {
    if (node < 0) {
      const {pruned} = view.tree;
      const left = pruned.nodes === 0 ? 'no path left out'
        : `${showCount(pruned.nodes)} paths left out, each at most ${showShare(pruned.share, 1)}, together ${showValue(pruned[`self_${units.suffix}`])} of self ${measured}`;
      this.foot.textContent = `${showCount(view.tree.size - 1)} paths, ${showCount(view.tree.deepest)} deep \u00b7 ${left}`;
      return;
    }
    const rest = rowsOf(view, node).map(([name, value]) => `${name} ${value}`).join(' \u00b7 ');
    this.foot.replaceChildren(element('span', view.tree.nameOf(node), 'name'), '  ' + rest);
  }
}
