// Lines of source with annotations: a mark whose strength is its value, and a text next to the line.

import {useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import type {SourceData} from '../payload';
import {useWindow} from './window';

const kLine = 20;
const kKinds = {yes: 'ran', no: 'not-run', maybe: 'may-have-run'};

export function Source({data, name, line, onLine}: {data: SourceData; name: string; line: number; onLine: (line: number) => void}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [first, last] = useWindow(scroller, kLine, data.lines.length);
  const marks = useMemo(() => new Map((data.marks ?? []).map(mark => [mark.line, mark])), [data]);
  const digits = String(data.first + data.lines.length).length;
  const [came, setCame] = useState(-1);
  useLayoutEffect(() => {
    const row = line - data.first;
    if (line === came || row < 0 || row >= data.lines.length) return;
    setCame(line);
    const box = scroller.current!;
    if (row * kLine < box.scrollTop || (row + 1) * kLine > box.scrollTop + box.clientHeight) box.scrollTop = row * kLine - box.clientHeight / 2;
  }, [line, data]);
  const shown = [];
  for (let i = first; i < last; i++) {
    const number = data.first + i;
    const mark = marks.get(number);
    shown.push(<div key={i} class={`source-line ${number === line ? 'chosen' : ''} ${mark ? 'marked' : ''} ${mark?.kind === undefined ? '' : kKinds[mark.kind]} ${mark?.value === 0 ? 'unlit' : ''}`} role="listitem"
      style={{top: `${i * kLine}px`, '--mark': String(Math.min(1, Math.max(0, mark?.value ?? 0)))}} aria-current={number === line ? 'true' : undefined}>
      <button type="button" class="link number" style={{minWidth: `calc(${digits}ch + 16px)`}} onClick={() => onLine(number)}>{number}</button>
      <code>{data.lines[i]}</code>{mark?.text && <span class="note">{mark.text}</span>}
    </div>);
  }
  const lines = <div class="source" ref={scroller} tabIndex={0} role="list" aria-label={name}>
    <div style={{height: `${data.lines.length * kLine}px`}}>{shown}</div>
  </div>;
  return <div class="source-part">
    {data.changed && <p class="changed" role="note">{name.slice(name.lastIndexOf('/') + 1)}: {data.changed}</p>}
    {lines}
  </div>;
}
