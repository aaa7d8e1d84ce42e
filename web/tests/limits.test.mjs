// Row W8: pages that hold as much as telltale writes into one (src/output/flame/page_room.h and the pages' own limits). What bounds time and
// memory is tested: elements in the document, boxes drawn, the heap, the tab's memory. Times are only printed.
import assert from 'node:assert/strict';
import {after, test} from 'node:test';
import {closeBrowser, costOf, placeOf, settled, withPage} from './browser.mjs';

after(closeBrowser);

const MiB = 2 ** 20;
const kNames = 16 * MiB;
const kName = 128 * 1024;
const many = (count, make) => Array.from({length: count}, (_, i) => make(i));
// Names that fill the room: most short, a few as long as they may be.
const names = count => many(count, i => (i < 64 ? `${i}:` + 'f<'.repeat(kName / 2 - 4) : `ns::Type<int, ${i}>::method(char const*)`.padEnd(Math.min(200, kNames / 2 / count))));

const kBoxes = 100_000;
// Boxes a thousand deep, a hundred times beside each other.
function calls() {
  const deep = 1000;
  const depth = [0];
  while (depth.length < kBoxes) depth.push(1 + (depth.length - 1) % deep);
  const total = depth.map((at, i) => (i === 0 ? kBoxes * 1000 : 1000 * (deep - at + 1)));
  const tree = {title: 'all threads', pruned: {nodes: 10_000_000, self_ns: 5, share: 1e-6}, depth, function: depth.map((_, i) => i - 1), calls: depth.map((_, i) => Math.min(i, 1)), inside: total.map(t => t / 1000), total_ns: total, self_ns: depth.map(() => 1000)};
  return {units: {counted: 'calls', measured: 'time', suffix: 'ns'}, trees: [tree], functions: names(kBoxes - 1).map(name => [name, 'a.cc', 1, 'program'])};
}
const kLines = 50_000;
const source = i => ({file: `file${i}.c`, first: 1, lines: many(kLines, line => `  statement(${line});`.padEnd(40))});
const place = i => ({predicate: `value < ${i}`, function: `function_${i}`, file: 'file0.c', line: 1 + i % kLines});
const predictor = i => ({...place(i), rank: i + 1, scheme: 'branches', importance: 1 / (i + 1), failure: 0.5, context: 0.25, increase: 0.25, low: 0.1, high: 0.4, failed: 3000, passed: 3000, observed_failed: 5000, observed_passed: 9000, explained: 1,
  same: many(i === 0 ? 200 : 25, place), affinity: [], failed_runs: many(i === 0 ? 1000 : 50, run => run), reports: many(i === 0 ? 1000 : 50, run => `study/reports/${run}.report`)});
const kPages = {
  flame: ['flame', calls], functions: ['functions', calls], callers: ['callers', calls],
  order: ['order', () => ({a: 'old', b: 'new', same: 0, only_a: 1, only_b: 1, moved: 0, functions: names(200_000), edits: many(200_000, i => [2 + i % 2, i % 1000, 1, 1, i % 2 ? 0 : i + 1, i % 2 ? i + 1 : 0, i])})],
  predictors: ['predictors', () => ({runs: {failed: 10_000, passed: 20_000}, rows: many(2000, predictor), sources: many(4, i => ({...source(i), sites: many(kLines, line => ({line: line + 1, sites: 2, predicate: `p${line}`, importance: 0.5, failed: 1, passed: 1}))}))})],
  steps: ['steps', () => ({frames: many(2000, i => ({thread: 1, number: i, function: `f${i}`, place: 'file0.c:1', history: 'history', complete: true, left_out: 0, here: 1, steps: many(i < 10 ? 20_000 : 50, step => [step >> 3, 0, 1 + step % kLines]), not_run: many(250, line => [0, line + 1])})), sources: [source(0)]})],
  coverage: ['coverage', () => ({functions: names(100_000).map((name, i) => ({function: name, ran: 'maybe', source: i % 4, line: 1 + i % kLines, mechanisms: 'blocks', yes: 1, no: 1, maybe: 1})), lines: many(500_000, i => [i % 4, 1 + (i >> 2) % kLines, 'no']), sources: many(4, source)})],
  rows: ['table', () => ({columns: many(8, i => ({key: `c${i}`, title: `Column ${i}`, type: i < 2 ? 'text' : 'unsigned'})), rows: many(10_000, i => [`application ${i}`, 'x'.repeat(100), ...many(6, j => i * j)])})],
};

for (const [name, [kind, data]] of Object.entries(kPages)) {
  test(`${name}: at its limits`, async context => {
    const payload = {telltale_page: 1, title: name, facts: [['span', '1 s'], ['left out', '1000000 rows; the ends of 64 long names']], summary: ['span', 'left out'], data: {part: data()}, tabs: [{id: name, kind, title: name, data: 'part'}]};
    const bytes = JSON.stringify(payload).length;
    assert.ok(bytes < 64 * MiB, `the payload has ${bytes} bytes`);
    await withPage({payload}, async page => {
      assert.match(await page.evaluate(() => document.querySelector('.summary').innerText), /left out 1000000 rows; the ends of 64 long names/);
      const check = cost => {
        assert.ok(cost.elements < 5000, `${cost.elements} elements`);
        for (const {drawn, visited} of cost.flames) assert.ok(drawn < 5000 && visited < 2 * kBoxes, `${drawn} boxes drawn, ${visited} visited`);
        assert.ok(cost.heap < 512 * MiB, `${cost.heap} bytes of heap`);
        assert.ok(cost.tab < 1024 * MiB, `the tab had ${cost.tab} bytes`);
      };
      const first = await costOf(page);
      check(first);
      context.diagnostic(`first paint ${Math.round(first.firstPaintMs)} ms, payload ${(bytes / MiB).toFixed(1)} MiB, ${first.elements} elements, heap ${Math.round(first.heap / MiB)} MiB, tab ${Math.round(first.tab / MiB)} MiB`);
      if (kind === 'flame') await page.mouse.click(...await placeOf(page, 1));
      await page.fill('#search', '9');
      await settled(page);
      check(await costOf(page));
    });
  });
}
