// Pages about what ran: steps through the paths of frames, and coverage.
import assert from 'node:assert/strict';
import {after, test} from 'node:test';
import {closeBrowser, hashOf, kPhone, picture, press, settled, textOf, textsOf, withPage} from './browser.mjs';

after(closeBrowser);

const page = (kind, data) => ({telltale_page: 1, title: 'What ran', facts: [['file', 'core']], summary: [], data: {d: data}, tabs: [{id: 'paths', kind, title: 'Paths', data: 'd'}]});
const source = (file, count, first = 1) => ({file, first, lines: Array.from({length: count}, (_, i) => `${file} text ${i + first}`)});

// Three paths of parse(): 7 8 9, 7 8 10, and 7 8 10 12, which is not complete; 14 did not run. The last step is past the place where it stopped.
const frame = (more = {}) => ({thread: 5, number: 0, function: 'parse', place: 'a.c:10', history: '2 completed paths, all since the call', complete: true, left_out: 0, here: 9,
  steps: [[0, 0, 7], [0, 0, 8], [0, 1, 3, 'next'], [1, 0, 7], [1, 0, 8], [1, 0, 10], [2, 0, 7], [2, 0, 8], [2, 0, 10], [2, 0, 12]], not_run: [[0, 14]], maybe: [[0, 15]], ...more});
const stepsPage = (...frames) => page('steps', {frames, sources: [source('a.c', 60), source('b.h', 5)]});
const two = () => stepsPage(frame(), {thread: 5, number: 1, function: 'main', place: '', history: 'no paths: it was built without path tracing', steps: []});
const chosenLine = page => textOf(page, '.source-line.chosen code');
const shownStep = page => textOf(page, 'output.step');

test('steps: back and forth by keyboard, and by path', () => withPage({payload: two()}, async page => {
  assert.equal(await shownStep(page), 'step 9 of 10', 'begins where it stopped');
  assert.equal(await chosenLine(page), 'a.c text 10');
  assert.match(await textOf(page, '.details'), /path\s+3 of 3 not complete[^]*2 completed paths, all since the call/);
  await picture(page, 'steps');
  for (const [key, step, line] of [['ArrowRight', 10, 'a.c text 12'], ['ArrowRight', 10, 'a.c text 12'], ['ArrowLeft', 9, 'a.c text 10'], [',', 7, 'a.c text 7'], [',', 4, 'a.c text 7'], ['.', 7, 'a.c text 7'],
    ['Home', 1, 'a.c text 7'], ['ArrowLeft', 1, 'a.c text 7'], ['.', 4, 'a.c text 7'], ['End', 10, 'a.c text 12'], ['.', 10, 'a.c text 12']]) {
    await press(page, key);
    assert.deepEqual([await shownStep(page), await chosenLine(page)], [`step ${step} of 10`, line], key);
  }
  await page.goto(`${page.url().split('#')[0]}#paths-step=2`);
  await settled(page);
  // Inlined: another file, and the name of the function.
  assert.equal(await chosenLine(page), 'b.h text 3');
  assert.match(await textOf(page, '.details'), /line\s+3 inlined next/);
  assert.deepEqual(await textsOf(page, '.steps li'), ['7 a.c text 7', '8 a.c text 8', '3 b.h text 3']);
  // The numbers of the steps are outside of the items, which must not clip them.
  assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('.steps li')].map(step => getComputedStyle(step).overflowX)), ['visible', 'visible', 'visible']);
  await page.click('.steps li:first-child button');
  assert.equal((await hashOf(page))['paths-step'], '0');
}));

test('steps: no button leads nowhere', () => withPage({payload: two()}, async page => {
  const disabled = () => page.evaluate(() => [...document.querySelectorAll('.toolbar button:disabled')].map(button => button.title.replace(/ \(.*/, '')));
  await press(page, 'Home');
  assert.deepEqual(await disabled(), ['Previous path', 'Previous step']);
  await press(page, 'End');
  assert.deepEqual(await disabled(), ['Next step', 'Next path']);
  await press(page, 'ArrowLeft');
  assert.deepEqual(await disabled(), []);
}));

test('source that is not that of the program has a note above it', () => withPage({payload: page('steps', {frames: [frame()], sources: [{...source('/src/a.c', 60), changed: 'changed <b>since</b> then'}, source('b.h', 5)]})}, async page => {
  assert.equal(await textOf(page, '.changed'), 'a.c: changed <b>since</b> then');
  assert.equal(await chosenLine(page), '/src/a.c text 10');
  await picture(page, 'changed');
  await page.goto(`${page.url().split('#')[0]}#paths-step=2`);
  await settled(page);
  assert.deepEqual(await textsOf(page, '.changed'), [], 'the other file has none');
}));

test('steps: paths that were repeated have the numbers of the text', () => withPage({payload: stepsPage(frame({times: [1, 11], history: '12 completed paths, all since the call'}))}, async page => {
  const shown = [];
  for (const key of ['End', ',', ',', ',']) {
    await press(page, key);
    shown.push((await textOf(page, '.details')).replace(/\s+/g, ' ').match(/\bpaths? (\d.*?) line /)[1]);
  }
  assert.deepEqual(shown, ['13 of 13 not complete', '13 of 13 not complete', '2 to 12 of 13 the same 11 times', '1 of 13']);
}));

test('steps: the source has the order, and what did not run', () => withPage({payload: two()}, async page => {
  const notes = Object.fromEntries(await page.evaluate(() => [...document.querySelectorAll('.source-line.marked')].map(line => [line.querySelector('.number').textContent, [line.querySelector('.note')?.textContent ?? '', line.className.match(/ran|not-run|may-have-run/g).at(-1), Number(line.style.getPropertyValue('--mark'))]])));
  assert.deepEqual(notes, {7: ['1 4 7', 'ran', 0.7], 8: ['2 5 8', 'ran', 0.7], 10: ['6 9  \u2190 here', 'ran', 0.7], 12: ['10', 'ran', 0], 14: ['', 'not-run', 0], 15: ['', 'may-have-run', 0]});
  await press(page, ',', ',');
  const older = await page.evaluate(() => [...document.querySelectorAll('.source-line.marked')].find(line => line.querySelector('.number').textContent === '10').style.getPropertyValue('--mark'));
  assert.equal(older, '0', 'what comes later is not marked');
}));

test('steps: frames of the stack', () => withPage({payload: two()}, async page => {
  await press(page, 'u');
  assert.equal((await hashOf(page))['paths-frame'], '1');
  assert.equal(await textOf(page, '.empty'), 'no paths: it was built without path tracing');
  assert.equal(await shownStep(page), 'no steps');
  await press(page, 'ArrowRight', '.', ',', 'End', 'u');
  await press(page, 'd');
  assert.equal(await shownStep(page), 'step 9 of 10');
  assert.deepEqual(await textsOf(page, '[data-choice=Frame] option'), ['thread 5 #0 parse at a.c:10', 'thread 5 #1 main (no paths)']);
  // An address from elsewhere is checked.
  await page.goto(`${page.url().split('#')[0]}#paths-frame=77&paths-step=999`);
  await settled(page);
  assert.equal(await shownStep(page), 'step 9 of 10');
}));

test('steps: a frame without paths shows what is known of its lines', () => withPage({payload: stepsPage(frame(),
  {thread: 5, number: 1, function: 'main', place: 'a.c:33', history: 'no paths: the schema excludes it', steps: [], stopped: [0, 33], ran: [[0, 31], [0, 33]], not_run: [[0, 35]], maybe: [[0, 37]]})}, async page => {
  await press(page, 'u');
  assert.equal(await shownStep(page), 'no steps');
  assert.equal(await chosenLine(page), 'a.c text 33');
  const notes = Object.fromEntries(await page.evaluate(() => [...document.querySelectorAll('.source-line.marked')].map(line => [line.querySelector('.number').textContent, [line.querySelector('.note')?.textContent ?? '', line.className.match(/ran|not-run|may-have-run/g).at(-1)]])));
  assert.deepEqual(notes, {31: ['', 'ran'], 33: ['\u2190 here', 'ran'], 35: ['', 'not-run'], 37: ['', 'may-have-run']});
  assert.match(await textOf(page, '.details'), /no paths: the schema excludes it/);
  await picture(page, 'steps-without-paths');
}));

const slice = (more = {}) => ({thread: 5, summary: '4 lines in 3 blocks; with what did not run, 6 lines in 5 blocks', assumed: ['threads'], left_out: 0,
  lines: [[0, 0, 10, 'parse', 'it stopped here'], [0, 0, 8, 'parse', 'decides whether line 10 runs'], [-1, 1, 3, 'next', 'returns a value, used at line 8 of parse'], [1, 0, 33, 'main', 'calls parse']], ...more});

test('slice: turned on by a key, from line to line, the nearest first', async () => {
  const payload = two();
  payload.data.d.slice = slice();
  await withPage({payload}, async page => {
    assert.equal(await shownStep(page), 'step 9 of 10', 'off at first');
    await press(page, 's');
    assert.equal(await shownStep(page), 'line 1 of 4');
    assert.equal(await chosenLine(page), 'a.c text 10');
    const notes = Object.fromEntries(await page.evaluate(() => [...document.querySelectorAll('.source-line.marked')].map(line => [line.querySelector('.number').textContent, [line.querySelector('.note')?.textContent ?? '', Number(line.style.getPropertyValue('--mark'))]])));
    assert.deepEqual(notes, {8: ['decides whether line 10 runs', 0.7], 10: ['it stopped here', 0.7], 33: ['calls parse', 0.25]});
    await picture(page, 'slice');
    for (const [key, number, line] of [['ArrowRight', 2, 'a.c text 8'], ['ArrowRight', 3, 'b.h text 3'], ['End', 4, 'a.c text 33'], ['ArrowRight', 4, 'a.c text 33'], ['ArrowLeft', 3, 'b.h text 3'], ['Home', 1, 'a.c text 10'], ['ArrowLeft', 1, 'a.c text 10']]) {
      await press(page, key);
      assert.deepEqual([await shownStep(page), await chosenLine(page)], [`line ${number} of 4`, line], key);
    }
    assert.match(await textOf(page, '.details'), /why\s+it stopped here[^]*4 lines in 3 blocks[^]*assumed\s+threads/);
    assert.deepEqual(await textsOf(page, '.steps li'), ['#0 parse:10 a.c text 10', '#0 parse:8 a.c text 8', 'returned next:3 b.h text 3', '#1 main:33 a.c text 33']);
    await page.click('.steps li:nth-child(3) button');
    assert.equal((await hashOf(page))['paths-slice'], '3');
    await press(page, 's');
    assert.equal(await shownStep(page), 'step 9 of 10');
    assert.equal((await hashOf(page))['paths-slice'], undefined);
    // An address from elsewhere is checked.
    await page.goto(`${page.url().split('#')[0]}#paths-slice=99`);
    await settled(page);
    assert.equal(await shownStep(page), 'step 9 of 10');
  });
});

test('slice: why there is none, and pages without', async () => {
  const payload = two();
  payload.data.d.slice = slice({summary: 'no slice: the program does not say', lines: []});
  await withPage({payload, size: kPhone}, async page => {
    await page.click('text=slice');
    assert.equal(await textOf(page, '.empty'), 'no slice: the program does not say');
    assert.equal(await shownStep(page), 'no lines');
    await press(page, 'ArrowRight', 'End', 's');
    assert.equal(await shownStep(page), 'step 9 of 10');
  });
  await withPage({payload: two()}, async page => {
    await press(page, 's');
    assert.equal(await shownStep(page), 'step 9 of 10');
  });
});

test('steps: many, without source, and on a phone', async () => {
  const many = frame({steps: Array.from({length: 20000}, (_, i) => [Math.floor(i / 100), 0, 1 + (i % 50)]), here: 20000});
  await withPage({payload: stepsPage(many), size: kPhone}, async page => {
    assert.equal(await shownStep(page), 'step 20000 of 20000');
    assert.match(await page.evaluate(() => document.querySelector('.source-line.chosen .note').textContent), /^50 100 \u2026 \d+ \d+ \d+ 20000 {2}\u2190 here$/);
    await page.click('text=\u25c0 step');
    assert.equal(await shownStep(page), 'step 19999 of 20000');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the screen');
    await picture(page, 'steps-phone');
  });
  const bare = stepsPage(frame());
  bare.data.d.sources[0].lines = [];
  await withPage({payload: bare}, async page => assert.equal(await textOf(page, '.empty'), 'The source a.c is not in this page. Line 10.'));
  await withPage({payload: stepsPage()}, async page => assert.equal(await textOf(page, '.empty'), 'There are no frames.'));
});

const coverage = () => page('coverage', {functions: [{function: 'f', ran: 'yes', source: 0, line: 3, mechanisms: 'BBC', yes: 2, no: 1, maybe: 1}, {function: 'g', ran: 'no', source: 1, line: 2, mechanisms: 'BBC', yes: 0, no: 1, maybe: 0}],
  lines: [[0, 3, 'yes'], [0, 4, 'yes'], [0, 5, 'no'], [0, 6, 'maybe'], [1, 2, 'no']], sources: [source('a.c', 60), source('b.c', 5)]});

test('coverage: functions, and their source with what ran', () => withPage({payload: coverage()}, async page => {
  assert.deepEqual((await textsOf(page, '.table-body .table-row')).map(row => row.replace(/\s+/g, ' ')), ['ran 2 1 1 f', 'did not run 0 1 0 g']);
  assert.equal(await chosenLine(page), 'a.c text 3');
  assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('.source-line.marked')].map(line => line.className.match(/ran|not-run|may-have-run/g).at(-1))), ['ran', 'ran', 'not-run', 'may-have-run']);
  await picture(page, 'coverage');
  await page.focus('.table');
  await press(page, 'ArrowDown');
  assert.equal(await chosenLine(page), 'b.c text 2');
  await page.fill('#search', '^f$');
  await settled(page);
  assert.equal(await textOf(page, '#found'), '1 functions');
}));
