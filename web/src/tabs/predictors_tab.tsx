// Predicates that predict failure: ranked, with their figures, source and runs.

import {useMemo} from 'preact/hooks';
import {Details} from '../kit/details';
import {Source} from '../kit/source';
import {Table, type Column} from '../kit/table';
import {Thermometer} from '../kit/thermometer';
import type {LineOfSites, PredicatePlace, Predictor, PredictorsData, SourceData} from '../payload';
import {useAddress} from '../shell/address';
import {useFound, useSearch} from '../shell/search';
import {showCount, showShare} from '../text/units';
import type {TabProps} from './kinds';

const placeOf = ({file, line}: PredicatePlace): string => (file === '' ? '' : `${file}:${line}`);
// Without folders, so that a narrow column shows the line, which is never cut; the title and the details have the whole name.
function ShortPlace({row}: {row: PredicatePlace}) {
  return <span class="short-place" title={placeOf(row)}>
    <span class="name">{row.file.slice(row.file.lastIndexOf('/') + 1)}</span>{row.file !== '' && <span class="name">:{row.line}</span>}
  </span>;
}
const share = (value: number): string => showShare(value, 1);

function columnsOf(rows: Predictor[]): Column<Predictor>[] {
  const most = rows.reduce((most, row) => Math.max(most, row.failed + row.passed), 1);
  return [
    {key: 'rank', title: '#', width: '3em', value: row => row.rank},
    {key: 'importance', title: 'Importance', width: '8em', about: 'Harmonic mean of increase and of the share of failures, by logarithm', value: row => row.importance, show: row => share(row.importance)},
    {key: 'runs', title: 'Runs', width: '7em', minor: true, about: 'Context, increase (surely, perhaps), passed; the width is the number of runs', value: row => row.failed + row.passed,
      show: row => <Thermometer context={row.context} low={row.low} failure={row.failure} runs={row.failed + row.passed} most={most} />},
    {key: 'failed', width: '5.5em', title: 'Failed', about: 'Failed runs in which it was true', value: row => row.failed, show: row => showCount(row.failed)},
    {key: 'passed', width: '5.5em', title: 'Passed', about: 'Runs that passed and in which it was true', minor: true, value: row => row.passed, show: row => showCount(row.passed)},
    {key: 'explained', width: '6em', title: 'Explains', about: 'Failed runs that no earlier predictor explains', minor: true, value: row => row.explained, show: row => showCount(row.explained)},
    {key: 'predicate', title: 'Predicate', isText: true, width: 'minmax(10em, 2fr)', value: row => row.predicate, show: row => <span class="name" title={row.predicate}>{row.predicate}</span>},
    {key: 'function', title: 'Function', isText: true, minor: true, value: row => row.function, show: row => <span class="name" title={row.function}>{row.function}</span>},
    {key: 'place', title: 'Place', isText: true, minor: true, width: 'minmax(9em, 1.2fr)', value: placeOf, show: row => <ShortPlace row={row} />},
  ];
}

function Others({title, rows}: {title: string; rows: (PredicatePlace & {note?: string})[]}) {
  if (rows.length === 0) return null;
  return <><h3>{title}</h3><ul class="predicates">{rows.map((row, i) => <li key={i}>
    <span class="name">{row.predicate}</span> <small>{[row.function, placeOf(row), row.note].filter(Boolean).join(' \u00b7 ')}</small>
  </li>)}</ul></>;
}

// A file beside the page. Whatever its name is, the link stays a path.
const linkTo = (path: string): string => './' + path.split('/').map(encodeURIComponent).join('/');

function Runs({row}: {row: Predictor}) {
  if (row.failed_runs.length === 0) return null;
  const shown = row.failed > row.failed_runs.length ? ` (the first ${showCount(row.failed_runs.length)})` : '';
  return <><h3>Failed runs in which it was true{shown}</h3><p class="runs">{row.failed_runs.map((run, i) => row.reports[i]
    ? <a key={run} href={linkTo(row.reports[i])} title={`Report of run ${run}: ${row.reports[i]}`}>{run}</a>
    : <span key={run}>{run}</span>)}</p></>;
}

// What is next to a line with sites.
function noteOf(line: LineOfSites): string {
  const sites = line.sites === 1 ? '1 site' : `${showCount(line.sites)} sites`;
  return line.importance === 0 ? sites : `${sites}: ${line.predicate}, ${showCount(line.failed)} failed, ${showCount(line.passed)} passed`;
}

// The source around a line, with the sites and the predictors of the file as marks.
function sourceAround(data: PredictorsData, row: Predictor): SourceData | null {
  const source = data.sources.find(source => source.file === row.file);
  if (!source || row.line < source.first || row.line >= source.first + source.lines.length) return null;
  const sites = source.sites.map(line => ({line: line.line, text: noteOf(line), value: 0}));
  const byLine = new Map<number, Predictor[]>();
  for (const other of data.rows) {
    if (other.file !== row.file) continue;
    const known = byLine.get(other.line);
    if (known) known.push(other);
    else byLine.set(other.line, [other]);
  }
  // Next to a line: the chosen predictor if it is one of the line's, otherwise the line's best.
  const marks = [...byLine].map(([line, rows]) => {
    const named = rows.includes(row) ? row : rows[0];
    const others = rows.length === 1 ? '' : rows.length === 2 ? ' and 1 other' : ` and ${showCount(rows.length - 1)} others`;
    return {line, text: `#${named.rank} ${named.predicate}${others}`, value: rows.reduce((most, other) => Math.max(most, other.importance), 0)};
  });
  return {file: source.file, first: source.first, lines: source.lines, changed: source.changed, marks: [...sites, ...marks]};
}

function PredictorDetails({data, row}: {data: PredictorsData; row: Predictor}) {
  const affinity = row.affinity.map(other => ({...other, note: `importance ${share(other.before)}, without these runs ${share(other.after)}`}));
  return <Details title={row.predicate} actions={[]}
    numbers={[
      {name: 'importance', value: share(row.importance)},
      {name: 'failure', value: share(row.failure), note: `${showCount(row.failed)} of ${showCount(row.failed + row.passed)} runs`},
      {name: 'context', value: share(row.context), note: `${showCount(row.observed_failed)} of ${showCount(row.observed_failed + row.observed_passed)} runs`},
      {name: 'increase', value: share(row.increase), note: `${share(row.low)} to ${share(row.high)}`},
      {name: 'explains', value: showCount(row.explained), note: `of ${showCount(data.runs.failed)} failed runs`},
    ]}
    facts={[{name: 'function', value: row.function}, {name: 'place', value: placeOf(row)}, {name: 'scheme', value: row.scheme}]}>
    <Others title="True in the same runs" rows={row.same} />
    <Others title="Loses importance without these runs" rows={affinity} />
    <Runs row={row} />
  </Details>;
}

export function PredictorsTab({spec, data: given}: TabProps) {
  const data = given as PredictorsData;
  const address = useAddress();
  const {pattern} = useSearch();
  const key = (name: string): string => `${spec.id}-${name}`;
  const columns = useMemo(() => columnsOf(data.rows), [data]);
  const kept = useMemo(() => data.rows.filter(row => pattern === null || pattern.test(row.predicate) || pattern.test(row.function) || pattern.test(placeOf(row))), [data, pattern]);
  const at = address.number(key('row'), data.rows.length, 0);
  const row = data.rows.at(at);
  const source = useMemo(() => (row === undefined ? null : sourceAround(data, row)), [data, row]);
  useFound(pattern === null ? '' : `${showCount(kept.length)} predictors`);
  if (row === undefined) return <p class="empty">No predicate predicts failure: {showCount(data.runs.failed)} runs failed, {showCount(data.runs.passed)} passed.</p>;
  return <div class="split">
    <div class="sandwich">
      <Table name={spec.title} columns={columns} rows={kept} sort={address.get(key('sort'))} onSort={sort => address.go({[key('sort')]: sort})}
        keyOf={one => one.rank - 1} selected={at} onSelect={next => address.go({[key('row')]: next}, true)} />
      {source && <><h3>{placeOf(row)}</h3><Source data={source} name={source.file} line={row.line} onLine={() => undefined} /></>}
    </div>
    <PredictorDetails data={data} row={row} />
  </div>;
}
