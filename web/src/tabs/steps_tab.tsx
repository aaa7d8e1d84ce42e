// What the functions on stacks executed: source, annotated by the order in which it ran, stepped back and forth.

import {useMemo} from 'preact/hooks';
import {Details} from '../kit/details';
import {Source} from '../kit/source';
import type {SourceData, SourceMark, StepsData, StepsFrame} from '../payload';
import {useAddress} from '../shell/address';
import {useKeys} from '../shell/keys';
import {useFound, useSearch} from '../shell/search';
import {Toolbar} from '../shell/toolbar';
import {showCount} from '../text/units';
import type {TabProps} from './kinds';
import {SliceView} from './slice_view';

const kNumbersShown = 6;  // of a line that ran often

// Marks of one source file: lines of the current path strongest, older ones less, later ones not at all. The text has the numbers of the steps.
function marksOf(frame: StepsFrame, source: number, now: number): SourceMark[] {
  const byLine = new Map<number, number[]>();
  frame.steps.forEach(([, of, line], i) => {
    if (of !== source) return;
    const known = byLine.get(line);
    if (known) known.push(i);
    else byLine.set(line, [i]);
  });
  const path = frame.steps[now]?.[0];
  const marks = [...byLine].map(([line, steps]): SourceMark => {
    const passed = steps.filter(step => step <= now);
    const inPath = passed.some(step => frame.steps[step][0] === path);
    const shown = steps.length > kNumbersShown ? [...steps.slice(0, 2), ...steps.slice(-(kNumbersShown - 2))] : steps;
    const text = shown.map((step, i) => (i === 2 && shown !== steps ? `\u2026 ${step + 1}` : String(step + 1))).join(' ');
    return {line, text: `${text}${steps.includes((frame.here ?? 0) - 1) ? '  \u2190 here' : ''}`, value: passed.length === 0 ? 0 : inPath ? 0.7 : 0.25, kind: 'yes'};
  });
  const add = (places: [number, number][] | undefined, kind: SourceMark['kind'], value = 0): void => {
    for (const [of, line] of places ?? []) {
      if (of !== source || byLine.has(line)) continue;
      const isHere = frame.stopped?.[0] === of && frame.stopped[1] === line;
      marks.push({line, value, kind, ...(isHere ? {text: '\u2190 here'} : {})});
    }
  };
  add(frame.ran, 'yes', 0.25);
  add(frame.not_run, 'no');
  add(frame.maybe, 'maybe');
  return marks;
}

const nameOf = (frame: StepsFrame): string => `#${frame.number} ${frame.function}${frame.place === '' ? '' : ` at ${frame.place}`}`;

export function StepsTab({spec, data: given}: TabProps) {
  const data = given as StepsData;
  const address = useAddress();
  const {pattern} = useSearch();
  const key = (name: string): string => `${spec.id}-${name}`;
  const traced = data.frames.findIndex(frame => frame.steps.length > 0);
  const chosen = address.number(key('frame'), data.frames.length, Math.max(traced, 0));
  const frame = data.frames.at(chosen);
  const count = frame?.steps.length ?? 0;
  const last = frame?.here ? frame.here - 1 : count - 1;
  const now = address.number(key('step'), count, Math.max(last, 0));
  const path = frame?.steps[now]?.[0];
  const goFrame = (to: number): void => {
    if (to >= 0 && to < data.frames.length) address.go({[key('frame')]: to, [key('step')]: null});
  };
  const goStep = (to: number): void => {
    if (count > 0) address.go({[key('step')]: Math.min(count - 1, Math.max(0, to))}, true);
  };
  // 0: off; otherwise a line of the slice, from 1.
  const sliced = data.slice === undefined ? 0 : address.number(key('slice'), Math.max(data.slice.lines.length, 1) + 1, 0);
  const goSlice = (to: number): void => {
    if (data.slice !== undefined) address.go({[key('slice')]: Math.min(Math.max(data.slice.lines.length, 1), Math.max(1, to))}, true);
  };
  const turnSlice = (): void => {
    if (data.slice !== undefined) address.go({[key('slice')]: sliced === 0 ? 1 : null});
  };
  const nextPath = (): void => {
    const to = frame?.steps.findIndex(step => step[0] > path!) ?? -1;
    goStep(to < 0 ? count - 1 : to);
  };
  const previousPath = (): void => {
    const begin = frame?.steps.findIndex(step => step[0] === path) ?? 0;
    goStep(begin < now ? begin : frame?.steps.findIndex(step => step[0] === frame.steps[Math.max(0, begin - 1)][0]) ?? 0);
  };
  // The innermost function comes first in the list.
  useKeys(sliced !== 0 ? {s: turnSlice, ArrowRight: () => goSlice(sliced + 1), ArrowLeft: () => goSlice(sliced - 1), Home: () => goSlice(1), End: () => goSlice(data.slice!.lines.length)}
    : {s: turnSlice, ArrowRight: () => goStep(now + 1), ArrowLeft: () => goStep(now - 1), '.': nextPath, ',': previousPath, Home: () => goStep(0), End: () => goStep(count - 1),
       u: () => goFrame(chosen + 1), d: () => goFrame(chosen - 1)});
  // Without steps: what is known of the lines.
  const [fallback = -1, stoppedAt = 0] = frame?.stopped ?? [frame?.ran, frame?.not_run, frame?.maybe].find(places => places?.length)?.[0] ?? [];
  const [, at = fallback, line = stoppedAt, inlined] = frame?.steps[now] ?? [];
  const found = at < 0 ? undefined : data.sources.at(at);
  const source = useMemo((): SourceData | null => (frame === undefined || found === undefined ? null : {...found, marks: marksOf(frame, at, now)}), [frame, found, at, now]);
  const kept = pattern === null ? 0 : data.frames.filter(one => pattern.test(one.function)).length;
  useFound(pattern === null ? '' : `${showCount(kept)} frames`);
  if (sliced !== 0 && data.slice !== undefined) {
    const lines = data.slice.lines.length;
    return <>
      <Toolbar name="Slice">
        <button type="button" aria-pressed="true" onClick={turnSlice} title="Paths (s)">slice</button>
        <button type="button" disabled={sliced <= 1} onClick={() => goSlice(sliced - 1)} title="Nearer line (left)">{'\u25c0'} line</button>
        <output class="step">{lines === 0 ? 'no lines' : `line ${sliced} of ${lines}`}</output>
        <button type="button" disabled={sliced >= lines} onClick={() => goSlice(sliced + 1)} title="Next line (right)">line {'\u25b6'}</button>
      </Toolbar>
      <SliceView slice={data.slice} sources={data.sources} chosen={sliced - 1} onChoose={line => goSlice(line + 1)} />
    </>;
  }
  if (frame === undefined) return <p class="empty">There are no frames.</p>;
  const paths = (frame.steps.at(-1)?.[0] ?? -1) + 1;
  const timesOf = (of: number) => frame.times?.[of] ?? 1;
  // Numbers of paths as in the text: a path that was repeated has several.
  const ranBefore = (of: number) => Array.from({length: of}, (_, i) => timesOf(i)).reduce((sum, each) => sum + each, 0);
  const steps = frame.steps.map((step, i) => ({i, step})).filter(({step}) => step[0] === path);
  const times = timesOf(path!);
  const first = ranBefore(path!) + 1;
  const isPartial = frame.here !== 0 && path === paths - 1;
  return <>
    <Toolbar name="Steps">
      <label>Frame<select value={chosen} data-choice="Frame" onChange={event => goFrame(Number(event.currentTarget.value))}>
        {data.frames.map((one, i) => (pattern === null || i === chosen || pattern.test(one.function)) && <option key={i} value={i}>{`thread ${one.thread} ${nameOf(one)}${one.steps.length === 0 ? ' (no paths)' : ''}`}</option>)}
      </select></label>
      <button type="button" disabled={now === 0} onClick={previousPath} title="Previous path (,)">{'\u00ab'} path</button>
      <button type="button" disabled={now === 0} onClick={() => goStep(now - 1)} title="Previous step (left)">{'\u25c0'} step</button>
      <output class="step">{count === 0 ? 'no steps' : `step ${now + 1} of ${count}`}</output>
      <button type="button" disabled={now + 1 >= count} onClick={() => goStep(now + 1)} title="Next step (right)">step {'\u25b6'}</button>
      <button type="button" disabled={now + 1 >= count} onClick={nextPath} title="Next path (.)">path {'\u00bb'}</button>
      {data.slice !== undefined && <button type="button" aria-pressed="false" onClick={turnSlice} title="Lines that may have made it stop (s)">slice</button>}
    </Toolbar>
    <div class="split">
      {count === 0 && fallback < 0 ? <p class="empty">{frame.history}</p>
        : source === null || source.lines.length === 0 ? <p class="empty">The source {source?.file ?? ''} is not in this page. Line {line}.</p>
        : <Source data={source} name={source.file} line={line} onLine={to => { const step = frame.steps.findIndex(one => one[1] === at && one[2] === to); if (step >= 0) goStep(step); }} />}
      <Details title={nameOf(frame)} actions={[]}
        numbers={count === 0 ? [] : [{name: 'step', value: `${showCount(now + 1)} of ${showCount(count)}`}, {name: times > 1 ? 'paths' : 'path', value: `${times > 1 ? `${showCount(first)} to ${showCount(first + times - 1)}` : showCount(first)} of ${showCount(ranBefore(paths))}`, note: isPartial ? 'not complete' : times > 1 ? `the same ${showCount(times)} times` : ''},
          {name: 'line', value: String(line), note: inlined ? `inlined ${inlined}` : ''}]}
        facts={[{name: 'history', value: frame.history}, {name: 'thread', value: String(frame.thread)}, {name: 'source', value: found?.file ?? ''},
          ...(frame.left_out ? [{name: 'older steps that are left out', value: showCount(frame.left_out)}] : [])]}>
        {count > 0 && <><h3>Lines of this path</h3><ol class="steps" start={steps[0].i + 1}>{steps.slice(0, 200).map(({i, step}) =>
          <li key={i} aria-current={i === now ? 'step' : undefined}><button type="button" class="link" onClick={() => goStep(i)}>{step[2]} <code>{data.sources.at(step[1])?.lines[step[2] - (data.sources.at(step[1])?.first ?? 0)]?.trim() ?? ''}</code></button></li>)}</ol></>}
      </Details>
    </div>
  </>;
}
