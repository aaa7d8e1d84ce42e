// The calls of two threads, aligned in their order: what both have, what only one has, and what is in another place.

import {useLayoutEffect, useMemo, useRef} from 'preact/hooks';
import {Details} from '../kit/details';
import {useWindow} from '../kit/window';
import type {Edit, OrderData} from '../payload';
import {useAddress} from '../shell/address';
import {useKeys} from '../shell/keys';
import {useFound, useSearch} from '../shell/search';
import {Toolbar} from '../shell/toolbar';
import {showCount} from '../text/units';
import type {TabProps} from './kinds';

const kLine = 24;
const kIndent = 14;
const kDeepest = 20;  // further calls are not indented more
const kBaseStep = 5;  // so that scrolling seldom moves what is shown sideways
const kSame = 0, kChanged = 1, kRemoved = 2, kMoved = 4, kArrived = 5;
const kKinds = ['same', 'changed', 'removed', 'added', 'moved', 'arrived'];
const kSigns = ['', '', '\u2212', '+', '\u2190', '\u2192'];
const kSaid = ['in both', 'in both; what is inside differs', 'only in A', 'only in B', 'here in A, elsewhere in B', 'here in B, elsewhere in A'];

const inA = ([kind]: Edit): boolean => kind === kSame || kind === kChanged || kind === kRemoved || kind === kMoved;
const inB = (edit: Edit): boolean => !inA(edit) || edit[0] === kSame || edit[0] === kChanged;
const differs = ([kind]: Edit): boolean => kind !== kSame && kind !== kChanged;

function textOf([kind, , count, calls, , , of]: Edit, data: OrderData): string {
  if (kind === kSame) return `\u2026 ${showCount(calls)} ${calls === 1 ? 'call' : 'calls'} as before`;
  const name = data.functions[of] ?? '';
  if (kind === kChanged) return name;
  const inside = Math.max(0, calls - count);
  return `${name}${count > 1 ? ` \u00d7 ${showCount(count)}` : ''}${inside > 0 ? ` (${showCount(inside)} inside)` : ''}`;
}

// The depth from which on rows are indented: deep stacks would otherwise leave no room for names.
function baseOf(rows: {edit: Edit}[]): number {
  let least = Infinity;
  for (const {edit} of rows) least = Math.min(least, edit[1]);
  return least === Infinity ? 0 : Math.floor(least / kBaseStep) * kBaseStep;
}

function Side({edit, data, shown, number, base}: {edit: Edit; data: OrderData; shown: boolean; number: number; base: number}) {
  if (!shown) return <div class="order-side absent" />;
  const deep = edit[1] - base;
  return <div class="order-side">
    <span class="number">{number === 0 ? '' : number}</span>
    <span class="sign" aria-hidden="true">{kSigns[edit[0]]}</span>
    <span class="name" style={{paddingLeft: `${Math.min(deep, kDeepest) * kIndent}px`}}>{deep > kDeepest ? `[depth ${edit[1] + 1}] ` : ''}{textOf(edit, data)}</span>
  </div>;
}

export function OrderTab({spec, data: given}: TabProps) {
  const data = given as OrderData;
  const address = useAddress();
  const {pattern} = useSearch();
  const scroller = useRef<HTMLDivElement>(null);
  const key = `${spec.id}-row`;
  const kept = useMemo(() => data.edits.map((edit, place) => ({edit, place})).filter(({edit}) => pattern === null || (edit[0] !== kSame && pattern.test(data.functions[edit[6]] ?? ''))), [data, pattern]);
  useFound(pattern === null ? '' : `${showCount(kept.length)} places`);
  const chosen = address.number(key, data.edits.length, -1);
  const at = kept.findIndex(row => row.place === chosen);
  const [first, last] = useWindow(scroller, kLine, kept.length);
  const select = (row: number): void => { if (row >= 0) address.go({[key]: kept[row].place}, true); };
  const next = (): void => select(kept.findIndex((row, i) => i > at && differs(row.edit)));
  const previous = (): void => {
    let row = (at < 0 ? kept.length : at) - 1;
    while (row >= 0 && !differs(kept[row].edit)) row--;
    select(row);
  };
  useKeys({ArrowDown: () => select(Math.min(kept.length - 1, at + 1)), ArrowUp: () => select(Math.max(0, at - 1)), '.': next, ',': previous, Home: () => select(0), End: () => select(kept.length - 1)});
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null || at < 0) return;
    if (at * kLine < box.scrollTop || (at + 1) * kLine > box.scrollTop + box.clientHeight) box.scrollTop = at * kLine - box.clientHeight / 2;
  }, [at, kept]);
  const edit = data.edits.at(chosen < 0 ? data.edits.length : chosen);
  // The other place of a subtree that was moved.
  const other = edit === undefined || (edit[0] !== kMoved && edit[0] !== kArrived) ? -1
    : data.edits.findIndex(one => one[0] === (edit[0] === kMoved ? kArrived : kMoved) && one[4] === edit[4] && one[5] === edit[5]);
  const visible = kept.slice(first, last);
  const base = baseOf(visible);
  const rows = visible.map(({edit: row, place}, i) =>
    <div key={place} class={`order-row ${kKinds[row[0]]} ${place === chosen ? 'chosen' : ''}`} role="row" aria-selected={place === chosen}
      style={{top: `${(first + i) * kLine}px`}} onClick={() => select(first + i)} title={kSaid[row[0]]}>
      <Side edit={row} data={data} shown={inA(row)} number={row[4]} base={base} />
      <Side edit={row} data={data} shown={inB(row)} number={row[5]} base={base} />
    </div>);
  const numbers = edit === undefined ? [] : [
    ...(inA(edit) || other >= 0 ? [{name: 'call in A', value: String(edit[4])}] : []), ...(inB(edit) || other >= 0 ? [{name: 'call in B', value: String(edit[5])}] : []),
    {name: 'calls', value: showCount(edit[3])}, {name: 'depth', value: String(edit[1] + 1)}];
  return <>
    <Toolbar name="Differences">
      <button type="button" onClick={previous} title="Previous difference (,)">{'\u25c0'} difference</button>
      <button type="button" onClick={next} title="Next difference (.)">difference {'\u25b6'}</button>
      <span class="quiet">{showCount(data.same)} calls the same, <span class="removed">{showCount(data.only_a)} only in A</span>, <span class="added">{showCount(data.only_b)} only in B</span>, <span class="moved">{showCount(data.moved)} moved</span></span>
    </Toolbar>
    <div class="split">
      <div class="order" ref={scroller} tabIndex={0} role="table" aria-label={spec.title} aria-rowcount={kept.length}>
        <div class="order-row head" role="row"><div class="order-side">A: {data.a}{base > 0 ? `, indented from depth ${base + 1}` : ''}</div><div class="order-side">B: {data.b}</div></div>
        {data.edits.length === 0 ? <p class="empty">Both threads made the same calls, in the same order.</p>
          : <div class="order-body" style={{height: `${kept.length * kLine}px`}}>{rows}</div>}
      </div>
      {edit !== undefined && <Details title={edit[0] === kSame ? textOf(edit, data) : data.functions[edit[6]] ?? ''} numbers={numbers}
        facts={[{name: 'found', value: kSaid[edit[0]]}]}
        actions={other < 0 ? [] : [{title: edit[0] === kMoved ? 'Its place in B' : 'Its place in A', run: () => address.go({[key]: other})}]} />}
    </div>
  </>;
}
