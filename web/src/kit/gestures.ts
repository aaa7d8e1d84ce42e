// Pointers and the wheel over a flame graph: drag moves, wheel and pinch zoom, a click or tap without movement selects.

import type {FlameView, Range} from './flame_view';

const kDragPixels = 5;

export interface Picked {
  onPick: (node: number) => void;
  onHover: (node: number, x: number, y: number) => void;  // -1: none
  onRange: (range: Range) => void;                         // it was moved by hand, and rests
}

export class Gestures {
  private readonly pointers = new Map<number, {x: number; y: number}>();
  private moved = false;
  private origin = {x: 0, y: 0, scroll: 0, range: [0, 1] as Range};
  private pinch: {a: number; b: number} | null = null;  // what lies under the two fingers
  private rest = 0;

  constructor(private readonly view: FlameView, private readonly picked: Picked) {
    const {canvas} = view;
    canvas.addEventListener('pointerdown', event => this.down(event));
    canvas.addEventListener('pointermove', event => this.move(event));
    canvas.addEventListener('pointerup', event => this.up(event));
    canvas.addEventListener('pointercancel', event => this.lift(event.pointerId));
    canvas.addEventListener('pointerleave', () => picked.onHover(-1, 0, 0));
    canvas.addEventListener('wheel', event => this.wheel(event), {passive: false});
  }

  stop(): void { clearTimeout(this.rest); }

  // The position under a point of the window, in units of width.
  private at(clientX: number, range: Range): number {
    const box = this.view.canvas.getBoundingClientRect();
    return range[0] + (clientX - box.left) / this.view.shownWidth * (range[1] - range[0]);
  }

  private begin(): void {
    const places = [...this.pointers.values()];
    const {range, scroller} = this.view;
    this.origin = {x: places[0].x, y: places[0].y, scroll: scroller.scrollTop, range};
    this.pinch = places.length === 2 ? {a: this.at(places[0].x, range), b: this.at(places[1].x, range)} : null;
  }

  private down(event: PointerEvent): void {
    if (event.pointerType === 'mouse' && event.button !== 0) return;
    if (this.pointers.size === 0) this.moved = false;
    if (this.pointers.size === 2) return;
    this.pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
    this.begin();
  }

  private move(event: PointerEvent): void {
    const pointer = this.pointers.get(event.pointerId);
    if (pointer === undefined) {
      if (event.pointerType === 'mouse') this.picked.onHover(this.view.nodeAt(event.clientX, event.clientY), event.clientX, event.clientY);
      return;
    }
    pointer.x = event.clientX;
    pointer.y = event.clientY;
    const {origin} = this;
    if (!this.moved && Math.hypot(event.clientX - origin.x, event.clientY - origin.y) < kDragPixels && this.pinch === null) return;
    if (!this.moved) {
      this.moved = true;
      this.view.canvas.setPointerCapture(event.pointerId);
      this.picked.onHover(-1, 0, 0);
    }
    if (this.pinch === null) this.drag(event);
    else this.spread();
  }

  private drag(event: PointerEvent): void {
    const {origin, view} = this;
    const shift = this.at(origin.x, origin.range) - this.at(event.clientX, origin.range);
    this.setRange([origin.range[0] + shift, origin.range[1] + shift]);
    if (event.pointerType === 'mouse') view.scroller.scrollTop = origin.scroll - (event.clientY - origin.y);
  }

  private spread(): void {
    const [a, b] = [...this.pointers.values()];
    const pixels = b.x - a.x;
    if (this.pinch === null || Math.abs(pixels) < 8) return;
    const perPixel = (this.pinch.b - this.pinch.a) / pixels;
    if (!(perPixel > 0)) return;
    const left = this.view.canvas.getBoundingClientRect().left;
    const from = this.pinch.a - (a.x - left) * perPixel;
    this.setRange([from, from + this.view.shownWidth * perPixel]);
  }

  private up(event: PointerEvent): void {
    const wasDown = this.pointers.has(event.pointerId);
    this.lift(event.pointerId);
    if (!wasDown || this.moved || this.pointers.size > 0) return;
    const node = this.view.nodeAt(event.clientX, event.clientY);
    if (node >= 0) this.picked.onPick(node);
  }

  private lift(pointer: number): void {
    this.pointers.delete(pointer);
    if (this.pointers.size > 0) this.begin();
  }

  private wheel(event: WheelEvent): void {
    const pixels = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const sideways = event.deltaX * pixels;
    const {view} = this;
    event.preventDefault();
    this.picked.onHover(-1, 0, 0);
    if (event.shiftKey) {
      view.scroller.scrollTop += (event.deltaY || event.deltaX) * pixels;
      return;
    }
    const [from, to] = view.range;
    if (Math.abs(sideways) > Math.abs(event.deltaY * pixels)) {
      const shift = sideways / view.shownWidth * (to - from);
      return this.setRange([from + shift, to + shift]);
    }
    const factor = Math.exp(Math.max(-400, Math.min(400, event.deltaY * pixels)) * (event.ctrlKey ? 0.01 : 0.002));
    const fixed = this.at(event.clientX, view.range);
    this.setRange([fixed - (fixed - from) * factor, fixed + (to - fixed) * factor]);
  }

  private setRange(range: Range): void {
    const {view} = this;
    view.moveTo(range);
    clearTimeout(this.rest);
    this.rest = window.setTimeout(() => this.picked.onRange(view.range), 250);
  }
}
