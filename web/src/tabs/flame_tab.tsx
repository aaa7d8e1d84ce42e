// The whole tree as a flame graph.

import {useEffect, useRef} from 'preact/hooks';
import type {CallTree} from '../calls/call_tree';
import type {CallsData} from '../payload';
import {copy} from '../shell/copy';
import {useKeys} from '../shell/keys';
import {useFound} from '../shell/search';
import {Toolbar} from '../shell/toolbar';
import {showCount} from '../text/units';
import {ColourChoices, TreeChoice, useCallsState, WidthChoices, type CallsState} from './calls_state';
import {BoxDetails, copyActions, FlamePane, labelIn, linkAction, nameIn, placeIn, searchTold, type PlaceKeys} from './flame_pane';
import type {TabProps} from './kinds';

const kKeys: PlaceKeys = {at: 'at', box: 'box', view: 'view'};
const kCrumbs = 7;

function Crumbs({state, tree, zoomed, onZoom}: {state: CallsState; tree: CallTree; zoomed: number; onZoom: (node: number) => void}) {
  const path = tree.pathOf(zoomed);
  const nav = useRef<HTMLElement>(null);
  useEffect(() => { if (nav.current) nav.current.scrollLeft = nav.current.scrollWidth; }, [zoomed]);
  if (path.length < 2) return null;
  const skipped = Math.max(0, path.length - kCrumbs);
  const crumb = (node: number) => <span key={node}>{node !== path[0] && ' \u203a '}
    <button type="button" class="link name" title={nameIn(state, tree, node)} aria-current={node === zoomed ? 'location' : undefined}
      onClick={() => onZoom(node)}>{labelIn(state, tree, node)}</button></span>;
  return <nav class="crumbs" ref={nav} aria-label="Path of the zoomed call">
    {crumb(path[0])}{skipped > 0 && <span class="quiet"> \u203a {showCount(skipped)} more</span>}{path.slice(1 + skipped).map(crumb)}
  </nav>;
}

// The next or previous match of the search within the zoomed box.
function nextMatch(state: CallsState, selected: number, zoomed: number, step: number): number {
  const {tree, matches} = state;
  if (matches === null) return selected;
  const width = tree.widths(state.measure, state.side);
  const count = tree.end[zoomed] - zoomed;
  let at = selected >= zoomed && selected < tree.end[zoomed] ? selected : zoomed;
  for (let tried = 0; tried < count; tried++) {
    at = zoomed + ((at - zoomed + step) % count + count) % count;
    if (at !== 0 && matches[tree.fn[at]] === 1 && width[at] > 0) return at;
  }
  return selected;
}

export function FlameTab({data, openTab}: TabProps) {
  const state = useCallsState(data as CallsData);
  const {address, tree} = state;
  const {zoomed, selected, range} = placeIn(state, tree, kKeys);
  const growsUp = address.get('up') === '1';
  const zoom = (node: number): void => address.go({at: node === 0 ? null : node, box: node, view: null});
  const flip = (): void => address.go({up: growsUp ? null : 1});
  const reset = (): void => address.go({at: null, view: null});
  const callersAndCallees = (): void => openTab('callers', {fn: tree.fn[selected]});
  useFound(searchTold(state, tree, zoomed));
  const select = (node: number): void => { if (node >= 0) address.go({box: node}, true); };
  useKeys({
    n: () => select(nextMatch(state, selected, zoomed, 1)),
    N: () => select(nextMatch(state, selected, zoomed, -1)),
    i: flip,
    Home: reset,
    Escape: () => address.go({box: null}, true),
    s: () => { if (selected > 0) callersAndCallees(); },
    c: () => { if (selected >= 0) void copy(nameIn(state, tree, selected), 'the name'); },
    C: () => { if (selected >= 0) copyActions(state, tree, selected)[1].run(); },
    ArrowDown: () => document.querySelector<HTMLElement>('.flame')?.focus(),
  });
  useEffect(() => { document.querySelector<HTMLElement>('.flame')?.focus({preventScroll: true}); }, []);
  const actions = [...(selected > 0 ? [{title: 'Callers and callees', key: 's', run: callersAndCallees}, ...copyActions(state, tree, selected)] : []), linkAction];
  return <>
    <Toolbar name="View">
      <TreeChoice state={state} />
      <WidthChoices state={state} />
      <ColourChoices state={state} />
      <button type="button" onClick={flip} title="Key: i">{growsUp ? 'Callers at the bottom' : 'Callers on top'}</button>
      <button type="button" onClick={reset} disabled={zoomed === 0 && range === null} title="Key: Home">Reset zoom</button>
    </Toolbar>
    <Crumbs state={state} tree={tree} zoomed={zoomed} onZoom={zoom} />
    <div class="split">
      <FlamePane state={state} tree={tree} keys={kKeys} growsUp={growsUp} name="Flame graph" />
      <BoxDetails state={state} tree={tree} selected={selected} actions={actions} />
    </div>
  </>;
}
