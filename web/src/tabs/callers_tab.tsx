// One function with its callers (above, growing upwards) and its callees (below).

import {useMemo} from 'preact/hooks';
import {functionsOf, type FunctionRow} from '../calls/functions';
import {calleesOf, callersOf} from '../calls/merge';
import type {CallsData} from '../payload';
import {copy} from '../shell/copy';
import {useKeys} from '../shell/keys';
import {useFound} from '../shell/search';
import {Toolbar} from '../shell/toolbar';
import {ColourChoices, kPlaces, TreeChoice, useCallsState, WidthChoices} from './calls_state';
import {BoxDetails, copyActions, FlamePane, linkAction, placeIn, type PlaceKeys} from './flame_pane';
import {FunctionTable} from './functions_tab';
import type {TabProps} from './kinds';

const kCallers: PlaceKeys = {at: 'callers-at', box: 'callers-box', view: 'callers-view'};
const kCallees: PlaceKeys = {at: 'callees-at', box: 'callees-box', view: 'callees-view'};

export function CallersTab({data}: TabProps) {
  const state = useCallsState(data as CallsData);
  const {address, model, tree} = state;
  const rows = functionsOf(tree);
  const busiest = useMemo(() => rows.reduce<FunctionRow | null>((best, row) => (best === null || row.self > best.self ? row : best), null)?.fn ?? -1, [tree]);
  const fn = address.number('fn', model.names.length, busiest);
  const title = fn < 0 ? '' : model.names[fn];
  const callers = useMemo(() => callersOf(tree, fn, title), [tree, fn]);
  const callees = useMemo(() => calleesOf(tree, fn, title), [tree, fn]);
  const choose = (next: number): void => address.go({...kPlaces, at: address.get('at'), box: address.get('box'), view: address.get('view'), fn: next});
  const [above, below] = [placeIn(state, callers, kCallers), placeIn(state, callees, kCallees)];
  const [shown, selected] = below.selected > 0 ? [callees, below.selected] : above.selected > 0 ? [callers, above.selected] : [callees, 0];
  useFound(state.matches === null ? '' : `${rows.filter(row => state.matches![row.fn] === 1).length} functions`);
  useKeys({
    s: () => choose(shown.fn[selected]),
    c: () => void copy(model.names[shown.fn[selected]], 'the name'),
    C: () => copyActions(state, shown, selected, shown === callers)[1].run(),
    Escape: () => address.go({'callers-box': null, 'callees-box': null}, true),
  });
  if (fn < 0) return <p class="empty">There is no function to show.</p>;
  const around = shown.fn[selected];
  const actions = [...(around !== fn ? [{title: 'Callers and callees of this', key: 's', run: () => choose(around)}] : []), ...copyActions(state, shown, selected, shown === callers), linkAction];
  return <>
    <Toolbar name="View"><TreeChoice state={state} /><WidthChoices state={state} /><ColourChoices state={state} /></Toolbar>
    <div class="split">
      <div class="side-table"><FunctionTable state={state} selected={fn} onSelect={choose} onOpen={choose} columns={['self', 'name']} /></div>
      <div class="sandwich">
        <h3>Callers of <span class="name">{model.labels[fn]}</span></h3>
        <FlamePane state={state} tree={callers} keys={kCallers} growsUp={true} name="Callers" />
        <h3>Callees</h3>
        <FlamePane state={state} tree={callees} keys={kCallees} growsUp={false} name="Callees" />
      </div>
      <BoxDetails state={state} tree={shown} selected={selected} actions={actions} />
    </div>
  </>;
}
