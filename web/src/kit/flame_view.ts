// Draws the visible part of a tree on a canvas as large as the window; the space around it scrolls. Draws at most
// once per animation frame and skips invisible subtrees and rows.

import {startsOf, type CallTree} from '../calls/call_tree';
import {palette, type Palette} from '../text/colours';
import {fitLabel} from '../text/names';

export const kRow = 20;
const kNarrowest = 0.4;  // pixels
const kZoomMs = 180;

export interface FlameLook {
  tree: CallTree;
  width: Float64Array;
  growsUp: boolean;                      // callers at the bottom
  matches: Uint8Array | null;            // a byte a function, while a search is on
  label: (node: number) => string;
  colour: (node: number) => string;
}
export type Range = [from: number, to: number];  // in units of the width

export class FlameView {
  readonly context: CanvasRenderingContext2D;
  look!: FlameLook;
  start!: Float64Array;
  zoomed = 0;
  selected = -1;
  hovered = -1;
  range: Range = [0, 1];
  shownWidth = 0;
  shownHeight = 0;
  drawn = 0;    // boxes of the last drawing
  visited = 0;  // nodes looked at for it
  frames = 0;   // drawings so far
  private rows = 1;
  private ratio = 1;
  private letter = 0;
  private pending = false;
  private run: object | null = null;
  private falling = false;  // siblings stand widest first

  constructor(readonly canvas: HTMLCanvasElement, readonly scroller: HTMLElement, readonly space: HTMLElement) {
    this.context = canvas.getContext('2d', {alpha: false})!;
  }

  // Replaces the tree or the way it is drawn.
  show(look: FlameLook): void {
    const isNew = this.look?.tree !== look.tree;
    this.look = look;
    this.start = startsOf(look.tree, look.width);
    this.falling = look.width === look.tree.now.total;
    if (isNew) {
      this.hovered = -1;
      this.zoomed = 0;
    }
    this.countRows();
    this.resize();
  }

  wholeOf(node: number): Range {
    const from = this.start[node];
    return [from, from + Math.max(this.look.width[node], 1e-9)];
  }

  // Shows the subtree of `node`.
  zoomTo(node: number, animated: boolean): void {
    const goal = this.wholeOf(node);
    this.setZoomed(node);
    this.reveal(node);
    this.run = null;
    if (goal[0] === this.range[0] && goal[1] === this.range[1]) return;
    if (animated && !matchMedia('(prefers-reduced-motion: reduce)').matches) return this.animate(goal);
    this.range = goal;
    this.redraw();
  }

  // Shows a range that is not a box.
  moveTo(range: Range): void {
    this.setZoomed(0);
    this.run = null;
    this.range = this.clamped(range);
    this.redraw();
  }

  private setZoomed(node: number): void {
    if (node === this.zoomed) return;
    this.zoomed = node;
    this.countRows();
    this.resize();
  }

  private animate(goal: Range): void {
    const start = this.range;
    const began = performance.now();
    const run = this.run = {};
    const step = (now: number): void => {
      if (this.run !== run) return;
      const t = Math.min(1, Math.max(0, (now - began) / kZoomMs));
      const eased = 1 - (1 - t) ** 3;
      this.range = [start[0] + (goal[0] - start[0]) * eased, start[1] + (goal[1] - start[1]) * eased];
      this.draw();
      if (t < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  // `range` clamped to the drawing, and no narrower than floating-point precision allows.
  clamped(range: Range): Range {
    const all = Math.max(this.look.width[0], 1e-9);
    const span = Math.min(all, Math.max(range[1] - range[0], all * 1e-9));
    const from = Math.min(Math.max(0, range[0]), all - span);
    return [from, from + span];
  }

  private countRows(): void {
    const {tree} = this.look;
    let deepest = 0;
    for (let i = this.zoomed; i < tree.end[this.zoomed]; i++) if (tree.depth[i] > deepest) deepest = tree.depth[i];
    this.rows = deepest + 1;
  }

  resize(): void {
    this.ratio = window.devicePixelRatio || 1;
    this.shownWidth = this.scroller.clientWidth;
    this.shownHeight = this.scroller.clientHeight;
    this.canvas.style.width = `${this.shownWidth}px`;
    this.canvas.style.height = `${this.shownHeight}px`;
    this.canvas.width = Math.max(1, Math.round(this.shownWidth * this.ratio));
    this.canvas.height = Math.max(1, Math.round(this.shownHeight * this.ratio));
    this.space.style.height = `${this.contentHeight()}px`;
    this.redraw();
  }

  private contentHeight(): number { return Math.max(this.shownHeight, this.rows * kRow + 8); }
  // The top of a row, in pixels of the whole drawing.
  private topOf(depth: number): number {
    return this.look.growsUp ? this.contentHeight() - (depth + 1) * kRow : depth * kRow;
  }
  private depthAt(y: number): number {
    return Math.floor((this.look.growsUp ? this.contentHeight() - y : y) / kRow);
  }

  reveal(node: number): void {
    const top = this.topOf(this.look.tree.depth[node]);
    const margin = Math.min(3 * kRow, this.shownHeight / 3);
    const {scroller} = this;
    if (top < scroller.scrollTop + margin) scroller.scrollTop = top - margin;
    if (top + kRow > scroller.scrollTop + this.shownHeight - margin) scroller.scrollTop = top + kRow + margin - this.shownHeight;
    if (node === 0) scroller.scrollTop = this.look.growsUp ? 1e9 : 0;
    this.redraw();
  }

  redraw(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  // Visits the visible boxes, callers first: call(node, x, width) in pixels, until it returns false.
  private visit(call: (node: number, x: number, width: number) => boolean): void {
    const {start, shownWidth} = this;
    const {tree, width} = this.look;
    const scale = shownWidth / (this.range[1] - this.range[0]);
    const scroll = this.scroller.scrollTop;
    const edges = [this.depthAt(scroll), this.depthAt(scroll + this.shownHeight)];
    const first = Math.max(0, Math.min(...edges));
    const last = Math.max(...edges);
    this.visited = 0;
    for (let i = 0; i < tree.size;) {
      this.visited++;
      const x = (start[i] - this.range[0]) * scale;
      const w = width[i] * scale;
      if (i > 0 && (tree.depth[i] > last || x > shownWidth || (this.falling && w < kNarrowest))) {
        i = tree.end[tree.parent[i]];  // nor is any later sibling in sight
      } else if (w < kNarrowest || x + w < 0) {
        i = tree.end[i];
      } else {
        if (tree.depth[i] >= first && !call(i, x, w)) return;
        i++;
      }
    }
  }

  draw(): void {
    const {context} = this;
    const colours = palette();
    const scroll = this.scroller.scrollTop;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = colours.page;
    context.fillRect(0, 0, this.shownWidth, this.shownHeight);
    context.font = '12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';
    context.textBaseline = 'middle';
    this.letter ||= context.measureText('0123456789').width / 10;
    this.drawn = 0;
    this.visit((node, x, w) => {
      this.drawBox(node, x, w, scroll, colours);
      this.drawn++;
      return true;
    });
    this.outline(this.hovered, colours.mark, 1, scroll);
    this.outline(this.selected, colours.mark, 2, scroll);
    this.frames++;
  }

  private drawBox(node: number, x: number, w: number, scroll: number, colours: Palette): void {
    const {context} = this;
    const {tree, matches} = this.look;
    const left = Math.max(x, 0);
    const right = Math.min(x + w, this.shownWidth);
    const top = this.topOf(tree.depth[node]) - scroll;
    const matched = matches !== null && node !== 0 && matches[tree.fn[node]] === 1;
    const dim = matches !== null && !matched;
    context.globalAlpha = tree.depth[node] < tree.depth[this.zoomed] ? 0.6 : 1;
    context.fillStyle = matched ? colours.match : dim ? colours.dim : this.look.colour(node);
    context.fillRect(left, top, Math.max(right - left - (w > 3 ? 0.75 : 0), 0.4), kRow - 1);
    context.globalAlpha = 1;
    const room = Math.floor((right - left - 8) / this.letter);
    if (room < 2) return;
    const text = fitLabel(this.look.label(node), room);
    if (text === '') return;
    context.fillStyle = dim ? colours.dimText : colours.text;
    context.fillText(text, left + 4, top + kRow / 2, right - left - 6);
  }

  private outline(node: number, colour: string, thickness: number, scroll: number): void {
    if (node < 0 || node >= this.look.tree.size) return;
    const [left, right] = this.edgesOf(node);
    if (right <= left) return;
    const {context} = this;
    context.strokeStyle = colour;
    context.lineWidth = thickness;
    const inset = thickness / 2;
    context.strokeRect(left + inset, this.topOf(this.look.tree.depth[node]) - scroll + inset, Math.max(right - left - thickness, 1), kRow - 1 - thickness);
  }

  // The visible part of a box, in pixels of the canvas.
  private edgesOf(node: number): Range {
    const scale = this.shownWidth / (this.range[1] - this.range[0]);
    const left = (this.start[node] - this.range[0]) * scale;
    return [Math.max(0, left), Math.min(this.shownWidth, left + this.look.width[node] * scale)];
  }

  nodeAt(clientX: number, clientY: number): number {
    const box = this.canvas.getBoundingClientRect();
    const x = clientX - box.left;
    const depth = this.depthAt(clientY - box.top + this.scroller.scrollTop);
    let found = -1;
    this.visit((node, left, width) => {
      if (this.look.tree.depth[node] !== depth || x < left || x >= left + width) return true;
      found = node;
      return false;
    });
    return found;
  }

  // The middle of what is visible of a box, in pixels of the window.
  placeOf(node: number): Range {
    const box = this.canvas.getBoundingClientRect();
    const [left, right] = this.edgesOf(node);
    return [box.left + (left + right) / 2, box.top + this.topOf(this.look.tree.depth[node]) - this.scroller.scrollTop + kRow / 2];
  }
}
