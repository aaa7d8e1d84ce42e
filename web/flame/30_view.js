// Draws the visible part of a tree on a canvas as large as the window; what scrolls is the space around it.

const kRow = 19;
const kNarrowest = 0.4;  // pixels

class View {
  constructor(canvas, scroller, space) {
    this.canvas = canvas;
    this.scroller = scroller;
    this.space = space;
    this.context = canvas.getContext('2d', {alpha: false});
    this.measure = 'time';
    this.colourBy = 'function';
    this.callersOnTop = true;
    this.zoomed = 0;
    this.selected = -1;
    this.hovered = -1;
    this.matches = null;  // a byte a function, while a search is on
    this.from = 0;        // what the width of the window shows, in units of the measure
    this.to = 1;
    this.pending = false;
  }

  show(tree) {
    this.tree = tree;
    this.zoomed = 0;
    this.selected = this.hovered = -1;
    this.layOut();
    this.jump();
  }

  layOut() {
    this.starts = this.tree.startsOf(this.measure);
    this.width = this.tree.widths[this.measure];
    this.rows = 0;
    for (let i = this.zoomed; i < this.tree.end[this.zoomed]; i++) this.rows = Math.max(this.rows, this.tree.depth[i] + 1);
  }

  jump() {
    [this.from, this.to] = this.range();
    this.resize();
    this.reveal(this.zoomed);
  }
  range() {
    const from = this.starts[this.zoomed];
    return [from, from + Math.max(this.width[this.zoomed], 1e-9)];
  }

  zoom(node) {
    if (this.width[node] <= 0) return;
    this.zoomed = node;
    this.layOut();
    this.resize();
    this.reveal(node);
    const start = [this.from, this.to];
    const goal = this.range();
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      [this.from, this.to] = goal;
      return this.redraw();
    }
    const began = performance.now();
    const run = this.run = {};
    const step = now => {
      if (this.run !== run) return;
      const t = Math.min(1, Math.max(0, (now - began) / 180));
      const eased = 1 - (1 - t) ** 3;
      this.from = start[0] + (goal[0] - start[0]) * eased;
      this.to = start[1] + (goal[1] - start[1]) * eased;
      this.draw();
      if (t < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const width = this.scroller.clientWidth;
    const height = this.scroller.clientHeight;
    this.shownWidth = width;
    this.shownHeight = height;
    this.canvas.style.width = width + 'px';
    this.canvas.style.height = height + 'px';
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
    this.ratio = ratio;
    this.space.style.height = Math.max(height, this.rows * kRow + 8) + 'px';
    this.redraw();
  }

  // Rows count from the callers; the top of a row, in pixels of the whole drawing.
  topOf(depth) {
    if (this.callersOnTop) return depth * kRow;
    return Math.max(this.shownHeight, this.rows * kRow + 8) - (depth + 1) * kRow;
  }
  depthAt(y) {
    return Math.floor(this.callersOnTop ? y / kRow : (Math.max(this.shownHeight, this.rows * kRow + 8) - y) / kRow);
  }
  reveal(node) {
    const top = this.topOf(this.tree.depth[node]);
    const margin = 3 * kRow;
    if (top < this.scroller.scrollTop + margin) this.scroller.scrollTop = top - margin;
    if (top + kRow > this.scroller.scrollTop + this.shownHeight - margin)
      this.scroller.scrollTop = top + kRow + margin - this.shownHeight;
    if (node === 0 && !this.callersOnTop) this.scroller.scrollTop = 1e9;
    this.redraw();
  }

  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  // The boxes in sight, callers first: visit(node, x, width) in pixels. Whole subtrees that are out of sight are skipped.
  visit(call) {
    const {tree, starts, width} = this;
    const scale = this.shownWidth / (this.to - this.from);
    const scroll = this.scroller.scrollTop;
    const edges = [this.depthAt(scroll), this.depthAt(scroll + this.shownHeight)];
    const first = Math.max(0, Math.min(...edges));
    const last = Math.max(...edges);
    for (let i = 0; i < tree.size;) {
      const depth = tree.depth[i];
      const x = (starts[i] - this.from) * scale;
      const w = width[i] * scale;
      if (depth > last || w < kNarrowest || x > this.shownWidth || x + w < 0) {
        i = tree.end[i];
        continue;
      }
      if (depth >= first && call(i, x, w) === false) return;
      i++;
    }
  }

  draw() {
    const {context, tree} = this;
    const theme = colours.theme();
    const scroll = this.scroller.scrollTop;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = theme.page;
    context.fillRect(0, 0, this.shownWidth, this.shownHeight);
    context.font = '12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';
    context.textBaseline = 'middle';
    this.letter = this.letter || context.measureText('0123456789').width / 10;
    const zoomDepth = tree.depth[this.zoomed];
    let drawn = 0;
    this.visit((node, x, w) => {
      const left = Math.max(x, 0);
      const right = Math.min(x + w, this.shownWidth);
      const top = this.topOf(tree.depth[node]) - scroll;
      const matched = this.matches !== null && node !== 0 && this.matches[tree.fn[node]] === 1;
      const dim = this.matches !== null && !matched;
      context.globalAlpha = tree.depth[node] < zoomDepth ? 0.6 : 1;
      context.fillStyle = matched ? theme.match : dim ? theme.dim : this.colourOf(node, theme);
      const gap = w > 3 ? 0.75 : 0;
      context.fillRect(left, top, Math.max(right - left - gap, 0.4), kRow - 1);
      context.globalAlpha = 1;
      if (right - left > 3.5 * this.letter) this.label(node, left + 4, top + kRow / 2, right - left - 8, dim ? theme.dimText : theme.text);
      drawn++;
    });
    this.outline(this.hovered, theme.mark, 1, scroll);
    this.outline(this.selected, theme.mark, 2, scroll);
    this.canvas.dataset.drawn = drawn;
  }

  colourOf(node, theme) {
    if (node === 0) return theme.root;
    if (this.colourBy !== 'self') return colours.ofFunction(this.tree.fn[node], this.colourBy);
    const all = this.tree.widths.time[0];
    return colours.ofSelf(all > 0 ? Math.sqrt(this.tree.self[node] / all) * 1.6 : 0);
  }

  label(node, x, y, width, colour) {
    const {context} = this;
    let text = this.tree.nameOf(node);
    const room = Math.floor(width / this.letter);
    if (text.length > room) text = room < 3 ? '' : text.slice(0, room - 1) + '\u2026';
    if (text === '') return;
    context.fillStyle = colour;
    context.fillText(text, x, y, width);
  }

  outline(node, colour, thickness, scroll) {
    if (node < 0) return;
    const scale = this.shownWidth / (this.to - this.from);
    const left = Math.max(0, (this.starts[node] - this.from) * scale);
    const right = Math.min(this.shownWidth, (this.starts[node] + this.width[node] - this.from) * scale);
    if (right <= left) return;
    const {context} = this;
    context.strokeStyle = colour;
    context.lineWidth = thickness;
    const inset = thickness / 2;
    context.strokeRect(left + inset, this.topOf(this.tree.depth[node]) - scroll + inset, Math.max(right - left - thickness, 1), kRow - 1 - thickness);
  }

  nodeAt(clientX, clientY) {
    const box = this.canvas.getBoundingClientRect();
    const x = clientX - box.left;
    const depth = this.depthAt(clientY - box.top + this.scroller.scrollTop);
    let found = -1;
    this.visit((node, left, width) => {
      if (this.tree.depth[node] !== depth || x < left || x >= left + width) return true;
      found = node;
      return false;
    });
    return found;
  }
  // The middle of what is visible of a node, in pixels of the window: tests and tooltips by keyboard use it.
  placeOf(node) {
    const box = this.canvas.getBoundingClientRect();
    const scale = this.shownWidth / (this.to - this.from);
    const left = Math.max(0, (this.starts[node] - this.from) * scale);
    const right = Math.min(this.shownWidth, (this.starts[node] + this.width[node] - this.from) * scale);
    return [box.left + (left + right) / 2, box.top + this.topOf(this.tree.depth[node]) - this.scroller.scrollTop + kRow / 2];
  }

  // Share of the zoomed node that is inside of matching calls; what is inside twice counts once.
  search(matches) {
    this.matches = matches;
    this.redraw();
    if (matches === null) return null;
    const {tree, width} = this;
    let sum = 0;
    let nodes = 0;
    for (let i = this.zoomed; i < tree.end[this.zoomed];) {
      if (i !== 0 && matches[tree.fn[i]] === 1) {
        sum += width[i];
        nodes++;
        i = tree.end[i];
      } else {
        i++;
      }
    }
    return {share: showShare(sum, width[this.zoomed]), nodes};
  }
}
