// A flame graph, or an icicle graph: mouse, touch, wheel and keys; for screen readers a tree whose selected box is
// announced.

import type {ComponentChildren} from 'preact';
import {useId, useLayoutEffect, useRef, useState} from 'preact/hooks';
import type {CallTree} from '../calls/call_tree';
import {onThemeChange} from '../shell/theme';
import {FlameView, type Range} from './flame_view';
import {Gestures} from './gestures';

export interface FlameGraphProps {
  tree: CallTree;
  width: Float64Array;
  growsUp: boolean;
  zoomed: number;
  range: Range | null;   // a part of the drawing instead of a box; shares of the whole, 0 to 1
  selected: number;      // -1: none
  matches: Uint8Array | null;
  name: string;          // of the graph, for screen readers
  label: (node: number) => string;
  colour: (node: number) => string;
  sentence: (node: number) => string;  // what is said of a box
  tip: (node: number) => ComponentChildren;
  onZoom: (node: number) => void;
  onSelect: (node: number) => void;
  onRange: (range: Range) => void;
}

// Siblings are adjacent: the next one begins where the subtree ends.
function sibling(tree: CallTree, width: Float64Array, node: number, step: number): number {
  const parent = tree.parent[node];
  if (parent < 0) return node;
  if (step > 0) {
    const next = tree.end[node];
    return next < tree.end[parent] && width[next] > 0 ? next : node;
  }
  let at = parent + 1;
  while (at < node && tree.end[at] < node) at = tree.end[at];
  return at < node ? at : node;
}

function neighbour(props: FlameGraphProps, key: string): number {
  const {tree, width, selected} = props;
  if (selected < 0) return props.zoomed;
  if (key === 'ArrowLeft' || key === 'ArrowRight') return sibling(tree, width, selected, key === 'ArrowRight' ? 1 : -1);
  if ((key === 'ArrowUp') === props.growsUp) return tree.end[selected] > selected + 1 ? selected + 1 : selected;
  return Math.max(0, tree.parent[selected]);
}

// The position of a box among its siblings, from 1, and their number.
function placeAmongSiblings(tree: CallTree, node: number): [number, number] {
  const parent = tree.parent[node];
  if (parent < 0) return [1, 1];
  let place = 0;
  let count = 0;
  for (let at = parent + 1; at < tree.end[parent]; at = tree.end[at]) {
    count++;
    if (at === node) place = count;
  }
  return [place, count];
}

function ActiveItem({props, id}: {props: FlameGraphProps; id: string}) {
  const {tree, selected} = props;
  if (selected < 0) return null;
  const [place, count] = placeAmongSiblings(tree, selected);
  return <div id={id} class="unseen" role="treeitem" aria-level={tree.depth[selected] + 1} aria-posinset={place} aria-setsize={count}
    aria-selected="true" aria-expanded={tree.end[selected] > selected + 1 ? true : undefined}>{props.sentence(selected)}</div>;
}

function Tip({node, x, y, children}: {node: number; x: number; y: number; children: ComponentChildren}) {
  const tip = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = tip.current!.getBoundingClientRect();
    tip.current!.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 8))}px`;
    tip.current!.style.top = `${y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10) : y + 18}px`;
  }, [node, x, y]);
  return <div class="tip" role="tooltip" ref={tip}>{children}</div>;
}

export function FlameGraph(props: FlameGraphProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const space = useRef<HTMLDivElement>(null);
  const view = useRef<FlameView | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [hover, setHover] = useState({node: -1, x: 0, y: 0});
  const item = useId();

  useLayoutEffect(() => {
    const made = view.current = new FlameView(canvas.current!, scroller.current!, space.current!);
    (canvas.current as unknown as {flame: FlameView}).flame = made;  // a handle for tests and the curious
    const gestures = new Gestures(made, {
      onPick: node => latest.current.onZoom(node),
      onHover: (node, x, y) => {
        if (node !== made.hovered) made.redraw();
        made.hovered = node;
        setHover(now => (now.node < 0 && node < 0 ? now : {node, x, y}));
      },
      onRange: range => {
        const all = Math.max(latest.current.width[0], 1e-9);
        latest.current.onRange([range[0] / all, range[1] / all]);
      },
    });
    const size = new ResizeObserver(() => made.resize());
    const recolour = onThemeChange(() => made.redraw());
    return () => {
      gestures.stop();
      size.disconnect();
      recolour();
    };
  }, []);

  const shown = useRef<{tree: CallTree | null; width: Float64Array | null}>({tree: null, width: null});
  useLayoutEffect(() => {
    const made = view.current!;
    const same = shown.current.tree === props.tree && shown.current.width === props.width;
    made.show({tree: props.tree, width: props.width, growsUp: props.growsUp, matches: props.matches, label: props.label, colour: props.colour});
    shown.current = {tree: props.tree, width: props.width};
    const all = Math.max(props.width[0], 1e-9);
    if (props.range !== null) made.moveTo([props.range[0] * all, props.range[1] * all]);
    else made.zoomTo(props.zoomed, same);
    if (!same) setHover({node: -1, x: 0, y: 0});
  }, [props.tree, props.width, props.growsUp, props.zoomed, props.range?.[0], props.range?.[1]]);
  useLayoutEffect(() => {
    const made = view.current!;
    made.look = {...made.look, matches: props.matches, label: props.label, colour: props.colour};
    made.selected = props.selected;
    if (props.selected >= 0 && document.activeElement === scroller.current) made.reveal(props.selected);
    made.redraw();
  }, [props.matches, props.label, props.colour, props.selected]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const {selected, zoomed, tree} = props;
    if (event.key.startsWith('Arrow')) props.onSelect(neighbour(props, event.key));
    else if (event.key === 'Enter' && selected >= 0) props.onZoom(selected);
    else if (event.key === 'Backspace') props.onZoom(Math.max(0, tree.parent[zoomed]));
    else if (event.key === 'Home' || event.key === '0') props.onZoom(0);
    else if (event.key === '+' || event.key === '-') zoomBy(view.current!, event.key === '+' ? 0.8 : 1.25, props.onRange);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return <div class="flame" ref={scroller} role="tree" tabIndex={0} aria-label={props.name} aria-activedescendant={props.selected >= 0 ? item : undefined}
    onKeyDown={onKeyDown} onScroll={() => { setHover({node: -1, x: 0, y: 0}); view.current!.redraw(); }}>
    <div ref={space}><canvas ref={canvas} aria-hidden="true" /></div>
    <ActiveItem props={props} id={item} />
    {hover.node >= 0 && hover.node < props.tree.size && <Tip {...hover}>{props.tip(hover.node)}</Tip>}
  </div>;
}

function zoomBy(view: FlameView, factor: number, onRange: (range: Range) => void): void {
  const middle = (view.range[0] + view.range[1]) / 2;
  const half = (view.range[1] - view.range[0]) / 2 * factor;
  const [from, to] = view.clamped([middle - half, middle + half]);
  const all = Math.max(view.look.width[0], 1e-9);
  onRange([from / all, to / all]);
}
