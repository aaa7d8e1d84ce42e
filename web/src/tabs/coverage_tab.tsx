// What of a program ran: functions, and the source of the chosen one.

import {useMemo} from 'preact/hooks';
import {Source} from '../kit/source';
import {Table, type Column} from '../kit/table';
import type {CoverageData, SourceData} from '../payload';
import {useAddress} from '../shell/address';
import {useFound, useSearch} from '../shell/search';
import {showCount} from '../text/units';
import type {TabProps} from './kinds';

type Row = CoverageData['functions'][number] & {place: number};
const kSaid = {yes: 'ran', no: 'did not run', maybe: 'may have run'};

const kColumns: Column<Row>[] = [
  {key: 'ran', title: 'Ran', isText: true, width: '8.5em', value: row => row.ran, show: row => <span class={`said-${row.ran}`}>{kSaid[row.ran]}</span>},
  {key: 'yes', title: 'Yes', width: '6em', about: 'Lines that ran', value: row => row.yes, show: row => showCount(row.yes)},
  {key: 'no', title: 'No', width: '6em', about: 'Lines that did not run', value: row => row.no, show: row => showCount(row.no)},
  {key: 'maybe', title: 'Maybe', width: '6em', minor: true, about: 'Lines of which it is not known', value: row => row.maybe, show: row => showCount(row.maybe)},
  {key: 'function', title: 'Function', isText: true, value: row => row.function, show: row => <span class="name" title={row.function}>{row.function}</span>},
];

export function CoverageTab({spec, data: given}: TabProps) {
  const data = given as CoverageData;
  const address = useAddress();
  const {pattern} = useSearch();
  const key = (name: string): string => `${spec.id}-${name}`;
  const rows = useMemo(() => data.functions.map((one, place) => ({...one, place})), [data]);
  const kept = useMemo(() => rows.filter(row => pattern === null || pattern.test(row.function)), [rows, pattern]);
  useFound(pattern === null ? '' : `${showCount(kept.length)} functions`);
  const at = address.number(key('row'), rows.length, 0);
  const row = rows.at(at);
  const source = useMemo((): SourceData | null => {
    const found = row && data.sources.at(row.source);
    if (row === undefined || found === undefined) return null;
    return {...found, marks: data.lines.filter(([of]) => of === row.source).map(([, line, ran]) => ({line, kind: ran, text: ran === 'maybe' ? kSaid.maybe : undefined, value: 0}))};
  }, [data, row]);
  if (row === undefined) return <p class="empty">No program of this file was built with coverage.</p>;
  const line = address.number(key('line'), 1e9, row.line);
  return <div class="split covered">
    <div class="sandwich">
      <Table name={spec.title} columns={kColumns} rows={kept} sort={address.get(key('sort'))} onSort={sort => address.go({[key('sort')]: sort})}
        keyOf={one => one.place} selected={at} onSelect={next => address.go({[key('row')]: next, [key('line')]: null}, true)} />
    </div>
    <div class="sandwich">
      <h3>{source?.file ?? ''} <span class="legend-lines"><i class="ran" /> ran <i class="not-run" /> did not <i class="may-have-run" /> may have</span></h3>
      {source === null || source.lines.length === 0 ? <p class="empty">The source is not in this page.</p>
        : <Source data={source} name={source.file} line={line} onLine={to => address.go({[key('line')]: to}, true)} />}
    </div>
  </div>;
}
