// A flame graph whose position is kept in the URL fragment, with details of the selected box.

import {useEffect, useMemo, useState} from 'preact/hooks';
import {matchedBelow, type CallTree} from '../calls/call_tree';
import {sumsAt} from '../calls/model';
import {Details, type Action, type Fact} from '../kit/details';
import {FlameGraph} from '../kit/flame_graph';
import type {Range} from '../kit/flame_view';
import {copy} from '../shell/copy';
import {isDark, onThemeChange} from '../shell/theme';
import {showCount, showShare} from '../text/units';
import type {CallsState} from './calls_state';

// The fragment keys of a pane's position.
export interface PlaceKeys {
  at: string;    // the box that is zoomed to
  box: string;   // the selected box
  view: string;  // a part of the drawing: "0.25-0.5"
}

export function rangeOf(text: string): Range | null {
  const parts = /^(0(?:\.\d+)?(?:e-\d+)?)-(0(?:\.\d+)?(?:e-\d+)?|1)$/.exec(text);
  if (!parts) return null;
  const range: Range = [Number(parts[1]), Number(parts[2])];
  return range[0] < range[1] ? range : null;
}
const textOf = (range: Range): string | null => (range[0] <= 1e-6 && range[1] >= 1 - 1e-6 ? null : range.map(share => String(Number(share.toPrecision(12)))).join('-'));

export interface Place {
  zoomed: number;
  selected: number;
  range: Range | null;
}
export function placeIn(state: CallsState, tree: CallTree, keys: PlaceKeys): Place {
  const {address} = state;
  return {zoomed: address.number(keys.at, tree.size, 0), selected: address.number(keys.box, tree.size, -1), range: rangeOf(address.get(keys.view))};
}

export const nameIn = (state: CallsState, tree: CallTree, node: number): string => (tree.fn[node] < 0 ? tree.title : state.model.names[tree.fn[node]]);
export const labelIn = (state: CallsState, tree: CallTree, node: number): string => (tree.fn[node] < 0 ? tree.title : state.model.labels[tree.fn[node]]);

function numbersOf(state: CallsState, tree: CallTree, node: number): Fact[] {
  const before = tree.before === null ? null : sumsAt(tree, tree.before, node);
  return state.model.numbers(state.tree, sumsAt(tree, tree.now, node), before, state.normalised);
}

export function FlamePane({state, tree, keys, growsUp, name}: {state: CallsState; tree: CallTree; keys: PlaceKeys; growsUp: boolean; name: string}) {
  const {address, model} = state;
  const place = placeIn(state, tree, keys);
  const width = tree.widths(state.measure, state.side);
  const [dark, setDark] = useState(isDark());
  useEffect(() => onThemeChange(() => setDark(isDark())), []);
  const colour = useMemo(() => model.colours(tree, state.colour, state.normalised), [tree, state.colour, state.normalised, dark]);
  const label = useMemo(() => (node: number) => labelIn(state, tree, node), [tree]);
  const told = (node: number): string => numbersOf(state, tree, node).map(fact => `${fact.name} ${fact.value}${fact.note ? `, ${fact.note}` : ''}`).join('; ');
  const inView = (node: number): string => showShare(width[node], width[place.zoomed]);
  return <FlameGraph tree={tree} width={width} growsUp={growsUp} name={name} matches={state.matches} label={label} colour={colour} {...place}
    sentence={node => `${nameIn(state, tree, node)}: ${told(node)}`}
    tip={node => <>
      <div class="name">{nameIn(state, tree, node)}</div>
      <table><tbody>{numbersOf(state, tree, node).map(fact => <tr key={fact.name}><th scope="row">{fact.name}</th><td>{fact.value}</td><td>{fact.note}</td></tr>)}
        {place.zoomed > 0 && <tr><th scope="row">of the view</th><td>{inView(node)}</td></tr>}</tbody></table>
    </>}
    onZoom={node => { if (width[node] > 0) address.go({[keys.at]: node === 0 ? null : node, [keys.box]: node, [keys.view]: null}); }}
    onSelect={node => address.go({[keys.box]: node < 0 ? null : node}, true)}
    onRange={range => address.go({[keys.at]: null, [keys.view]: textOf(range)}, true)} />;
}

// Search results below the zoomed box.
export function searchTold(state: CallsState, tree: CallTree, zoomed: number): string {
  if (state.matches === null) return '';
  const width = tree.widths(state.measure, state.side);
  const found = matchedBelow(tree, width, zoomed, state.matches);
  return found.nodes === 0 ? 'no match' : `${showShare(found.sum, width[zoomed])} matched`;
}

// `upsideDown`: a tree of callers. A stack is copied with the outermost call first.
export function copyActions(state: CallsState, tree: CallTree, node: number, upsideDown = false): Action[] {
  const stack = (): string => {
    const path = tree.pathOf(node).filter(at => tree.fn[at] >= 0).map(at => nameIn(state, tree, at));
    return (upsideDown ? path.reverse() : path).join('\n');
  };
  return [{title: 'Copy name', key: 'c', run: () => void copy(nameIn(state, tree, node), 'the name')},
          {title: 'Copy stack', key: 'C', run: () => void copy(stack(), 'the stack')}];
}

export const linkAction: Action = {title: 'Copy link', run: () => void copy(location.href, 'a link to this view')};

// Details of a box; of the whole tree if none is selected.
export function BoxDetails({state, tree, selected, actions}: {state: CallsState; tree: CallTree; selected: number; actions: Action[]}) {
  const {model} = state;
  const node = Math.max(0, selected);
  const fn = tree.fn[node];
  const facts: Fact[] = fn < 0 ? prunedFacts(state, tree) : [...model.places(fn), ...(tree === state.tree ? [{name: 'depth', value: showCount(tree.depth[node])}] : [])];
  return <Details title={labelIn(state, tree, node)} numbers={numbersOf(state, tree, node)} facts={facts} actions={actions} />;
}

export function prunedFacts(state: CallsState, tree: CallTree): Fact[] {
  const {pruned} = tree;
  const facts = [{name: 'paths', value: `${showCount(tree.size - 1)}, ${showCount(tree.deepest)} deep`}];
  if (pruned.nodes === 0) return [...facts, {name: 'left out', value: 'no path'}];
  return [...facts, {name: 'left out', value: `${showCount(pruned.nodes)} paths, each at most ${showShare(pruned.share, 1)}, together ${state.model.show(pruned.self)} of self ${state.model.measured}`}];
}
