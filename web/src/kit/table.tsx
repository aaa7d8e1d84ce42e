// A sorted table of any number of rows; only visible rows are in the document.

import {useMemo, useRef} from 'preact/hooks';
import type {ComponentChildren} from 'preact';
import {useWindow} from './window';

const kRow = 28;

export interface Column<Row> {
  key: string;
  title: string;
  about?: string;
  isText?: boolean;
  minor?: boolean;                             // left out on narrow screens
  width?: string;                              // of the grid; numbers have a common one
  value: (row: Row) => string | number;        // by which rows are sorted
  show?: (row: Row) => ComponentChildren;
  share?: (row: Row) => number;                // 0 to 1: a bar drawn behind the value
}

export interface TableProps<Row> {
  name: string;
  columns: Column<Row>[];
  rows: Row[];
  sort: string;                                // a column's key, with - in front: largest first
  onSort: (sort: string) => void;
  keyOf: (row: Row) => number;
  selected: number;                            // a row's key; -1: none
  onSelect: (key: number) => void;
  onOpen?: (key: number) => void;              // Enter, double click
}

// Largest first for numbers, A first for text; equal rows stay in order.
function sorted<Row>(rows: Row[], columns: Column<Row>[], sort: string): Row[] {
  const column = columns.find(column => column.key === sort.replace('-', ''));
  if (column === undefined) return rows;
  const sign = sort.startsWith('-') ? -1 : 1;
  const keyed = rows.map(row => ({row, value: column.value(row)}));
  const compare = column.isText ? (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0) : (a: string | number, b: string | number) => Number(a) - Number(b);
  return keyed.sort((a, b) => sign * compare(a.value, b.value)).map(entry => entry.row);
}

function Head<Row>({columns, sort, onSort}: Pick<TableProps<Row>, 'columns' | 'sort' | 'onSort'>) {
  return <div class="table-row head" role="row" aria-rowindex={1}>{columns.map((column, i) => {
    const down = sort === `-${column.key}`;
    const up = sort === column.key;
    const next = up ? `-${column.key}` : down || column.isText ? column.key : `-${column.key}`;
    return <div key={column.key} role="columnheader" aria-colindex={i + 1} class={cellClass(column)} aria-sort={down ? 'descending' : up ? 'ascending' : 'none'}>
      <button type="button" class="link" title={column.about} onClick={() => onSort(next)}>{column.title}{down ? ' \u25be' : up ? ' \u25b4' : ''}</button>
    </div>;
  })}</div>;
}

const cellClass = (column: {isText?: boolean; minor?: boolean}): string => `${column.isText ? 'text' : 'number'} ${column.minor ? 'minor' : ''}`;

function Line<Row>({row, index, columns, chosen, id}: {row: Row; index: number; columns: Column<Row>[]; chosen: boolean; id: string}) {
  return <div class={`table-row ${chosen ? 'chosen' : ''}`} role="row" id={id} aria-rowindex={index + 2} aria-selected={chosen} data-index={index}
    style={{top: `${index * kRow}px`}}>{columns.map((column, i) =>
      <div key={column.key} role="gridcell" aria-colindex={i + 1} class={cellClass(column)}>
        {column.share && <span class="bar" style={{width: `${100 * Math.min(1, Math.max(0, column.share(row)))}%`}} />}
        <span class="cell">{column.show ? column.show(row) : String(column.value(row))}</span>
      </div>)}</div>;
}

export function Table<Row>(props: TableProps<Row>) {
  const {columns, rows, sort, keyOf, selected} = props;
  const scroller = useRef<HTMLDivElement>(null);
  const ordered = useMemo(() => sorted(rows, columns, sort), [rows, columns, sort]);
  const [first, last] = useWindow(scroller, kRow, ordered.length);
  const place = useMemo(() => (selected < 0 ? -1 : ordered.findIndex(row => keyOf(row) === selected)), [ordered, selected]);

  const goTo = (index: number): void => {
    if (ordered.length === 0) return;
    const next = Math.min(ordered.length - 1, Math.max(0, index));
    const box = scroller.current!;
    const room = box.clientHeight - kRow;  // the head stays in sight
    if (next * kRow < box.scrollTop) box.scrollTop = next * kRow;
    if ((next + 1) * kRow > box.scrollTop + room) box.scrollTop = (next + 1) * kRow - room;
    props.onSelect(keyOf(ordered[next]));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.target as Element).tagName === 'BUTTON') return;
    const page = Math.max(1, Math.floor(scroller.current!.clientHeight / kRow) - 2);
    const steps: Record<string, number> = {ArrowDown: place + 1, ArrowUp: place - 1, PageDown: place + page, PageUp: place - page, Home: 0, End: ordered.length - 1};
    if (event.key in steps) goTo(steps[event.key]);
    else if (event.key === 'Enter' && place >= 0 && props.onOpen) props.onOpen(selected);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const rowOf = (event: Event): number => {
    const index = (event.target as Element).closest<HTMLElement>('[data-index]')?.dataset.index;
    return index === undefined || !ordered[Number(index)] ? -1 : keyOf(ordered[Number(index)]);
  };
  const template = columns.map(column => column.width ?? (column.isText ? 'minmax(8em, 1fr)' : 'var(--number-width)')).join(' ');
  const narrow = columns.filter(column => !column.minor).map(column => column.width ?? (column.isText ? 'minmax(6em, 1fr)' : 'var(--number-width)')).join(' ');
  const shown = [];
  for (let i = first; i < last; i++) {
    shown.push(<Line key={keyOf(ordered[i])} id={`row-${keyOf(ordered[i])}`} row={ordered[i]} index={i} columns={columns} chosen={i === place} />);
  }
  return <div class="table" ref={scroller} role="grid" tabIndex={0} aria-label={props.name} aria-rowcount={ordered.length + 1} aria-colcount={columns.length}
    aria-activedescendant={place >= first && place < last ? `row-${selected}` : undefined} style={{'--columns': template, '--narrow-columns': narrow}} onKeyDown={onKeyDown}
    onClick={event => { const key = rowOf(event); if (key >= 0) props.onSelect(key); }}
    onDblClick={event => { const key = rowOf(event); if (key >= 0) props.onOpen?.(key); }}>
    <Head columns={columns} sort={sort} onSort={props.onSort} />
    <div class="table-body" role="rowgroup" style={{height: `${ordered.length * kRow}px`}}>{shown}</div>
  </div>;
}
