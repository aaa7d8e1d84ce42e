// The functions of a tree as a table: self, total, calls.

import {useMemo} from 'preact/hooks';
import {calleesOf, callersOf} from '../calls/merge';
import type {CallTree} from '../calls/call_tree';
import {functionsOf, type FunctionRow} from '../calls/functions';
import {Bars, type Bar} from '../kit/bars';
import {Details} from '../kit/details';
import {Table, type Column} from '../kit/table';
import type {CallsData} from '../payload';
import {copy} from '../shell/copy';
import {useKeys} from '../shell/keys';
import {useFound} from '../shell/search';
import {Toolbar} from '../shell/toolbar';
import {showChange, showCount} from '../text/units';
import {NormalisedCheck, TreeChoice, useCallsState, type CallsState} from './calls_state';
import {linkAction, prunedFacts} from './flame_pane';
import type {TabProps} from './kinds';

const kBars = 8;

function columnsOf(state: CallsState): Column<FunctionRow>[] {
  const {model, tree} = state;
  const all = tree.now.total[0];
  const share = (value: number): number => (all > 0 ? value / all : 0);
  const columns: Column<FunctionRow>[] = [
    {key: 'self', title: 'Self', about: `${model.measured} in the function itself`, value: row => row.self, show: row => model.show(row.self), share: row => share(row.self)},
    {key: 'total', title: 'Total', about: `${model.measured} in the function and what it calls; recursion counts once`, value: row => row.total, show: row => model.show(row.total), share: row => share(row.total)},
    {key: 'calls', title: model.counted[0].toUpperCase() + model.counted.slice(1), value: row => row.calls, show: row => showCount(row.calls), minor: true},
  ];
  if (model.compared) {
    const factor = model.factor(tree, state.normalised);
    const change = (row: FunctionRow, key: 'self' | 'total'): number => row[key] - row.before![key] * factor;
    const column = (key: 'self' | 'total', title: string): Column<FunctionRow> => ({key: `${key}-change`, title, about: 'B less A', minor: key === 'total', value: row => Math.abs(change(row, key)),
      show: row => <span class={change(row, key) > 0 ? 'grew' : 'shrank'}>{showChange(row.before![key] * factor, row[key])}</span>});
    columns.push(column('self', '\u0394 self'), column('total', '\u0394 total'));
  }
  columns.push({key: 'name', title: 'Function', isText: true, width: 'minmax(9em, 1fr)', value: row => model.labels[row.fn],
                show: row => <span class="name" title={model.names[row.fn]}>{model.labels[row.fn]}</span>});
  return columns;
}

export function FunctionTable({state, selected, onSelect, onOpen, columns}:
{state: CallsState; selected: number; onSelect: (fn: number) => void; onOpen: (fn: number) => void; columns?: string[]}) {
  const {address, tree, matches} = state;
  const rows = useMemo(() => functionsOf(tree).filter(row => matches === null || matches[row.fn] === 1), [tree, matches]);
  const all = useMemo(() => columnsOf(state), [tree, state.model, state.normalised]);
  const shown = useMemo(() => all.filter(column => !columns || columns.includes(column.key)), [all, columns?.join()]);
  return <Table name="Functions" columns={shown} rows={rows} sort={address.get('sort') || (state.model.compared ? '-self-change' : '-self')} keyOf={row => row.fn} selected={selected}
    onSort={sort => address.go({sort})} onSelect={onSelect} onOpen={onOpen} />;
}

// The functions adjacent to the root of a tree from calleesOf or callersOf.
function nearest(state: CallsState, tree: CallTree, pick: (fn: number) => void): Bar[] {
  const bars: Bar[] = [];
  for (let i = 1; i < tree.size; i = tree.end[i]) {
    const fn = tree.fn[i];
    bars.push({label: state.model.labels[fn], full: state.model.names[fn], value: tree.now.total[i], text: state.model.show(tree.now.total[i]), onPick: () => pick(fn)});
  }
  return bars.slice(0, kBars);
}

function FunctionDetails({state, fn, pick, open}: {state: CallsState; fn: number; pick: (fn: number) => void; open: () => void}) {
  const {model, tree} = state;
  const row = useMemo(() => functionsOf(tree).find(row => row.fn === fn), [tree, fn]);
  const around = useMemo(() => (row === undefined ? null : {callers: callersOf(tree, fn, ''), callees: calleesOf(tree, fn, '')}), [tree, row]);
  if (row === undefined || around === null) {
    return <Details title={tree.title} numbers={[{name: 'functions', value: showCount(functionsOf(tree).length)}]} facts={prunedFacts(state, tree)} actions={[linkAction]} />;
  }
  const callers = nearest(state, around.callers, pick);
  const callees = nearest(state, around.callees, pick);
  return <Details title={model.labels[fn]} numbers={model.numbers(tree, row, row.before, state.normalised)} facts={model.places(fn)}
    actions={[{title: 'Callers and callees', key: 's', run: open}, {title: 'Copy name', key: 'c', run: () => void copy(model.names[fn], 'the name')}, linkAction]}>
    {callers.length > 0 && <><h3>Called by</h3><Bars name="Called by" bars={callers} /></>}
    {callees.length > 0 && <><h3>Calls</h3><Bars name="Calls" bars={callees} /></>}
  </Details>;
}

export function FunctionsTab({data, openTab}: TabProps) {
  const state = useCallsState(data as CallsData);
  const {address, model, matches, tree} = state;
  const fn = address.number('fn', model.names.length, -1);
  const select = (next: number): void => address.go({fn: next}, true);
  const open = (next: number): void => openTab('callers', {fn: next});
  const found = useMemo(() => (matches === null ? '' : `${showCount(functionsOf(tree).filter(row => matches[row.fn] === 1).length)} functions`), [tree, matches]);
  useFound(found);
  useKeys({s: () => { if (fn >= 0) open(fn); }, c: () => { if (fn >= 0) void copy(model.names[fn], 'the name'); }, Escape: () => address.go({fn: null}, true)});
  return <>
    {(model.data.trees.length > 1 || model.compared) && <Toolbar name="View"><TreeChoice state={state} /><NormalisedCheck state={state} /></Toolbar>}
    {tree.pruned.nodes !== 0 && <p class="note">Without {showCount(tree.pruned.nodes)} paths that are left out (--min-percent): functions may be missing, and numbers may be too small. telltale top has all.</p>}
    <div class="split">
      <FunctionTable state={state} selected={fn} onSelect={select} onOpen={open} />
      <FunctionDetails state={state} fn={fn} pick={select} open={() => open(fn)} />
    </div>
  </>;
}
