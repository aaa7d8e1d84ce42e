// The payload of a page: docs/design/page-kit.md describes the format. All text in it is untrusted.

import type {Units} from './text/units';

export const kPayloadVersion = 1;

export type Cell = string | number | boolean | null;

export interface TableColumn {
  key: string;
  title: string;
  type: 'integer' | 'unsigned' | 'double' | 'text' | 'boolean';
  unit?: 'ns' | 'bytes' | 'count' | 'fraction' | 'address';
  about?: string;     // one sentence
  minor?: boolean;    // left out on narrow screens
}
export interface TableData {
  columns: TableColumn[];
  rows: Cell[][];
}
export interface BarsData {
  unit?: TableColumn['unit'];
  bars: {label: string; value: number; note?: string}[];
}
export interface SourceData {
  file: string;
  first: number;                                  // the number of the first line
  lines: string[];
  changed?: string;                               // why the lines may not be those of the program; missing if they are
  marks?: SourceMark[];
}
export interface SourceMark {
  line: number;
  text?: string;
  value?: number;                                 // 0 to 1, how strongly the line is marked
  kind?: 'yes' | 'no' | 'maybe';                  // whether it ran
}

// What functions on stacks executed (docs/analysis/paths.md).
export type Step = [path: number, source: number, line: number, inlined?: string];
export interface StepsFrame {
  thread: number;
  number: number;          // in its stack; 0 is the innermost
  function: string;
  place: string;           // '' if it is not known
  history: string;         // what is known of it, or why nothing is
  complete?: boolean;      // the history begins with the call
  left_out?: number;       // older steps
  here?: number;           // the step at which it stopped, from 1; 0: not known
  steps: Step[];           // the oldest first
  times?: number[];        // by path, how often it ran in sequence; missing if each ran once
  stopped?: [source: number, line: number];  // of a frame without paths, of which blocks are known
  ran?: [source: number, line: number][];    // lines without a step, or of a frame without paths
  not_run?: [source: number, line: number][];
  maybe?: [source: number, line: number][];
}
// A line that may have made the thread stop as it did; frame: its number in the stack, -1: in calls that have returned.
export type SliceLine = [frame: number, source: number, line: number, function: string, why: string];
export interface SliceData {
  thread: number;
  summary: string;         // its size, or why there is none
  assumed: string[];
  left_out?: number;       // lines
  lines: SliceLine[];      // the nearest first
}
export interface StepsData {
  frames: StepsFrame[];
  sources: SourceData[];
  slice?: SliceData;
}

// The calls of two threads, aligned (docs/analysis/diff.md).
// kind: 0 same, 1 changed, 2 removed, 3 added, 4 moved, 5 arrived. call_a, call_b: numbers in the threads; 0: none.
export type Edit = [kind: number, depth: number, count: number, calls: number, call_a: number, call_b: number, function: number];
export interface OrderData {
  a: string;               // what the threads are called
  b: string;
  same: number;
  only_a: number;
  only_b: number;
  moved: number;
  functions: string[];
  edits: Edit[];
}

// What of a program ran (docs/analysis/coverage.md).
export type Ran = 'yes' | 'no' | 'maybe';
export interface CoverageData {
  functions: {function: string; ran: Ran; source: number; line: number; mechanisms: string; yes: number; no: number; maybe: number}[];
  lines: [source: number, line: number, ran: Ran][];
  sources: SourceData[];
}

// Predicates that predict failure (docs/analysis/isolation.md).
export interface PredicatePlace {
  predicate: string;
  function: string;
  file: string;   // '' if it is not known
  line: number;
}
export interface Predictor extends PredicatePlace {
  rank: number;   // from 1, in the order of the list
  scheme: string;
  importance: number;
  failure: number;
  context: number;
  increase: number;
  low: number;    // the interval of increase
  high: number;
  failed: number; // runs in which it was true
  passed: number;
  observed_failed: number;
  observed_passed: number;
  explained: number;
  same: PredicatePlace[];
  affinity: (PredicatePlace & {before: number; after: number})[];
  failed_runs: number[];  // numbers of the first of them, ascending
  reports: string[];      // of each the path of its report, as seen from the page; empty: unknown
}
// A line with sites, and the best predicate of all of them.
export interface LineOfSites {
  line: number;
  sites: number;
  predicate: string;
  importance: number;
  failed: number;         // runs in which it was true
  passed: number;
}
export interface PredictorsData {
  runs: {failed: number; passed: number};
  rows: Predictor[];
  sources: {file: string; first: number; lines: string[]; changed?: string; sites: LineOfSites[]}[];
}

// Trees of calls by path. A tree's columns have an entry for each box, depth first; the root comes first.
export interface CallColumns {
  calls: number[];
  inside: number[];
  [totalOrSelf: string]: number[];                // total_ns and self_ns; or _bytes, _count
}
export interface RawTree {
  title: string;
  pruned: {nodes: number; share: number; [selfWithSuffix: string]: number};
  depth: number[];
  function: number[];
  before?: CallColumns;
  [column: string]: unknown;
}
export interface CallsData {
  units: Units;
  functions: [name: string, file: string, line: number, module: string][];
  trees: RawTree[];
  compared?: {before: string; after: string};     // what the two recordings are called
}

export interface TabSpec {
  id: string;      // in the address
  kind: string;    // which component shows it
  title: string;
  data: string;    // a key of Payload.data
}
export interface Payload {
  telltale_page: number;
  title: string;
  facts: [string, string][];
  summary: string[];  // names of facts that the header shows
  data: Record<string, unknown>;
  tabs: TabSpec[];
}

// Throws an Error whose message is one readable sentence.
export function parsePayload(text: string): Payload {
  const payload = JSON.parse(text) as Payload;
  if (payload.telltale_page !== kPayloadVersion) throw new Error(`This page's data is of version ${String(payload.telltale_page)}, not ${kPayloadVersion}`);
  if (!Array.isArray(payload.tabs) || payload.tabs.length === 0) throw new Error('This page\'s data names no tab');
  const ids = new Set<string>();
  for (const tab of payload.tabs) {
    if (ids.has(tab.id)) throw new Error(`This page's data has two tabs "${tab.id}"`);
    ids.add(tab.id);
    if (!Object.hasOwn(payload.data, tab.data)) throw new Error(`Tab "${tab.id}" wants data "${tab.data}", which is not in this page`);
  }
  return payload;
}
