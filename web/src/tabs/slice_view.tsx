// The slice of a thread: its lines in their source, the nearest to the stop first.

import {useMemo} from 'preact/hooks';
import {Details} from '../kit/details';
import {Source} from '../kit/source';
import type {SliceData, SliceLine, SourceData, SourceMark} from '../payload';
import {showCount} from '../text/units';

const kListed = 200;

// Lines of one source; those of the frame of the chosen line are the strongest.
function marksOf(slice: SliceData, [frame, source]: SliceLine): SourceMark[] {
  const byLine = new Map<number, SourceMark>();
  for (const [of, its, line, , why] of slice.lines) {
    if (its !== source) continue;
    const known = byLine.get(line);
    if (known !== undefined && of !== frame) continue;
    byLine.set(line, {line, text: why, value: of === frame ? 0.7 : 0.25, kind: 'yes'});
  }
  return [...byLine.values()];
}

const placeOf = ([frame, , , name]: SliceLine): string => `${frame < 0 ? 'returned' : `#${frame}`} ${name}`;

export function SliceView({slice, sources, chosen, onChoose}: {slice: SliceData; sources: SourceData[]; chosen: number; onChoose: (line: number) => void}) {
  const at = slice.lines.at(chosen);
  const source = at === undefined ? undefined : sources.at(at[1]);
  const data = useMemo((): SourceData | null => (at === undefined || source === undefined ? null : {...source, marks: marksOf(slice, at)}), [slice, at, source]);
  if (at === undefined) return <p class="empty">{slice.summary}</p>;
  const textOf = ([, of, line]: SliceLine): string => sources.at(of)?.lines[line - (sources.at(of)?.first ?? 0)]?.trim() ?? '';
  return <div class="split">
    {data === null || data.lines.length === 0 ? <p class="empty">The source {source?.file ?? ''} is not in this page. Line {at[2]}.</p>
      : <Source data={data} name={data.file} line={at[2]} onLine={to => { const line = slice.lines.findIndex(one => one[1] === at[1] && one[2] === to); if (line >= 0) onChoose(line); }} />}
    <Details title={placeOf(at)} actions={[]}
      numbers={[{name: 'line', value: String(at[2]), note: source?.file.split('/').at(-1) ?? ''}, {name: 'of the slice', value: `${showCount(chosen + 1)} of ${showCount(slice.lines.length)}`}]}
      facts={[{name: 'why', value: at[4]}, {name: 'slice', value: slice.summary}, {name: 'thread', value: String(slice.thread)}, {name: 'source', value: source?.file ?? ''}, ...slice.assumed.map(note => ({name: 'assumed', value: note})),
        ...(slice.left_out ? [{name: 'lines that are left out', value: showCount(slice.left_out)}] : [])]}>
      <h3>Lines that may have made it stop</h3>
      <ol class="steps">{slice.lines.slice(0, kListed).map((line, i) =>
        <li key={i} aria-current={i === chosen ? 'step' : undefined}><button type="button" class="link" onClick={() => onChoose(i)}>{placeOf(line)}:{line[2]} <code>{textOf(line)}</code></button></li>)}</ol>
    </Details>
  </div>;
}
