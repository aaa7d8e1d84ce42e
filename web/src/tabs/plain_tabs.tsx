// Tabs that show one component: a table, bars, source, and the facts of the recording.

import {useMemo} from 'preact/hooks';
import {Bars} from '../kit/bars';
import {Source} from '../kit/source';
import {Table, type Column} from '../kit/table';
import type {BarsData, Cell, SourceData, TableColumn, TableData} from '../payload';
import {useAddress} from '../shell/address';
import {useFound, useSearch} from '../shell/search';
import {showBytes, showCount, showShare, showTime} from '../text/units';
import type {TabProps} from './kinds';

export function showCell(value: Cell, unit: TableColumn['unit']): string {
  if (value === null) return '';
  if (typeof value !== 'number') return String(value);
  switch (unit) {
    case 'ns': return showTime(value);
    case 'bytes': return showBytes(value);
    case 'fraction': return showShare(value, 1);
    case 'address': return `0x${value.toString(16)}`;
    default: return Number.isInteger(value) ? showCount(value) : String(Number(value.toPrecision(6)));
  }
}

// Text columns share the room by their longest texts, so that none is cut while others have room to spare.
function widthOf(rows: Cell[][], place: number, title: string): string {
  const longest = rows.reduce((most, row) => Math.max(most, typeof row[place] === 'string' ? row[place].length : 0), title.length);
  return `minmax(8em, ${Math.min(Math.max(longest, 8), 80)}fr)`;
}

interface NumberedRow {
  place: number;
  cells: Cell[];
}

export function TableTab({spec, data}: TabProps) {
  const {columns, rows} = data as TableData;
  const address = useAddress();
  const {pattern} = useSearch();
  const key = (name: string): string => `${spec.id}-${name}`;
  const shown = useMemo(() => columns.map((column, i): Column<NumberedRow> => {
    const isText = column.type === 'text' || column.type === 'boolean';
    return {key: column.key, title: column.title, about: column.about, minor: column.minor, isText, width: isText ? widthOf(rows, i, column.title) : undefined, value: row => {
      const cell = row.cells[i];
      return isText ? String(cell ?? '') : Number(cell ?? -Infinity);
    }, show: row => <span class={isText ? 'name' : ''} title={isText ? String(row.cells[i] ?? '') : undefined}>{showCell(row.cells[i], column.unit)}</span>};
  }), [columns, rows]);
  const kept = useMemo(() => rows.map((cells, place) => ({place, cells})).filter(row => pattern === null || row.cells.some(cell => typeof cell === 'string' && pattern.test(cell))), [rows, pattern]);
  useFound(pattern === null ? '' : `${showCount(kept.length)} rows`);
  return <div class="split"><Table name={spec.title} columns={shown} rows={kept} sort={address.get(key('sort'))} onSort={sort => address.go({[key('sort')]: sort})}
    keyOf={row => row.place} selected={address.number(key('row'), rows.length, -1)} onSelect={row => address.go({[key('row')]: row}, true)} /></div>;
}

export function BarsTab({spec, data}: TabProps) {
  const {bars, unit} = data as BarsData;
  const {pattern} = useSearch();
  const kept = bars.filter(bar => pattern === null || pattern.test(bar.label));
  useFound(pattern === null ? '' : `${showCount(kept.length)} rows`);
  return <div class="page"><Bars name={spec.title} bars={kept.map(bar => ({label: bar.label, value: bar.value, text: [showCell(bar.value, unit), bar.note].filter(Boolean).join(' \u00b7 ')}))} /></div>;
}

export function SourceTab({spec, data}: TabProps) {
  const source = data as SourceData;
  const address = useAddress();
  const {pattern} = useSearch();
  const key = `${spec.id}-line`;
  const line = address.number(key, source.first + source.lines.length, 0);
  const found = useMemo(() => (pattern === null ? 0 : source.lines.filter(text => pattern.test(text)).length), [source, pattern]);
  useFound(pattern === null ? '' : `${showCount(found)} lines`);
  return <div class="split"><Source data={source} name={source.file} line={line} onLine={next => address.go({[key]: next})} /></div>;
}

export function FactsTab({facts}: {facts: [string, string][]}) {
  return <div class="page"><dl class="facts wide">{facts.map(([name, value], i) => <div key={i}><dt>{name}</dt><dd>{value}</dd></div>)}</dl></div>;
}
