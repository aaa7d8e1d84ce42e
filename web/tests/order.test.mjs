// Pages about the order of calls: two threads beside each other.
import assert from 'node:assert/strict';
import {after, test} from 'node:test';
import {closeBrowser, hashOf, kPhone, numbersOf, picture, press, settled, textOf, withPage} from './browser.mjs';

after(closeBrowser);

// What examples of `diff --order` look like: a moved save(), an added audit(), a removed check().
const edits = [[1, 0, 1, 1, 1, 1, 0], [4, 1, 1, 2, 2, 305, 1], [0, 1, 41, 121, 4, 2, 2], [1, 1, 1, 1, 125, 123, 3], [0, 2, 1, 1, 126, 124, 4], [3, 2, 1, 3, 0, 125, 5],
  [2, 1, 3, 3, 305, 0, 4], [5, 1, 1, 2, 2, 305, 1]];
const data = (more = {}) => ({a: 'old.xray, thread 7 (server)', b: 'new.xray, thread 9', same: 124, only_a: 3, only_b: 3, moved: 2,
  functions: ['main', 'save()', 'load()', 'request(int)', 'check()', 'audit()'], edits, ...more});
const page = order => ({telltale_page: 1, title: 'Calls in their order', facts: [['A', 'old.xray']], summary: ['A'], data: {order}, tabs: [{id: 'order', kind: 'order', title: 'Order', data: 'order'}]});
// [what A shows, what B shows] of each row in the document; null: nothing, or not visible.
const shown = page => page.evaluate(() => [...document.querySelectorAll('.order-body .order-row')].map(row => [...row.querySelectorAll('.order-side')]
  .map(side => (getComputedStyle(side).display === 'none' || side.classList.contains('absent') ? null : side.innerText.replace(/\s+/g, ' ').trim()))));
const chosen = page => textOf(page, '.order-row.chosen');

test('order: both threads beside each other', () => withPage({payload: page(data())}, async page => {
  assert.deepEqual(await shown(page), [['1 main', '1 main'], ['2 \u2190 save() (1 inside)', null], ['4 \u2026 121 calls as before', '2 \u2026 121 calls as before'],
    ['125 request(int)', '123 request(int)'], ['126 \u2026 1 call as before', '124 \u2026 1 call as before'], [null, '125 + audit() (2 inside)'], ['305 \u2212 check() \u00d7 3', null], [null, '305 \u2192 save() (1 inside)']]);
  assert.match(await textOf(page, '.toolbar'), /124 calls the same, 3 only in A, 3 only in B, 2 moved/);
  // A pair that differs only inside looks like one that does not: its row is in the grid, without a colour.
  const look = selector => page.evaluate(wanted => {
    const {backgroundColor, padding, borderBottomWidth} = getComputedStyle(document.querySelector(`.order-body ${wanted}`));
    return {backgroundColor, padding, borderBottomWidth};
  }, selector);
  assert.deepEqual(await look('.order-row.changed'), await look('.order-row.same'));
  await press(page, '.', '.');
  await picture(page, 'order');
}));

test('order: from difference to difference, and to the other place of what moved', () => withPage({payload: page(data())}, async page => {
  for (const [key, row] of [['.', 1], ['.', 5], ['.', 6], ['.', 7], ['.', 7], [',', 6], [',', 5], ['Home', 0], ['ArrowDown', 1], ['End', 7], ['ArrowUp', 6]]) {
    await press(page, key);
    assert.equal((await hashOf(page))['order-row'], String(row), key);
  }
  assert.deepEqual(await numbersOf(page), {'call in A': '305', calls: '3', depth: '2'});
  await page.click('.order-row.moved');
  await settled(page);
  assert.match(await textOf(page, '.details'), /save\(\)[^]*here in A, elsewhere in B/);
  await page.click('.details .actions button');
  await settled(page);
  assert.equal((await hashOf(page))['order-row'], '7');
  assert.match(await textOf(page, '.details'), /here in B, elsewhere in A/);
  // An address from elsewhere is checked.
  await page.goto(`${page.url().split('#')[0]}#order-row=99`);
  await settled(page);
  assert.equal(await chosen(page), null);
}));

test('order: search keeps the places of a function', () => withPage({payload: page(data()), hash: '#q=save'}, async page => {
  assert.deepEqual(await shown(page), [['2 \u2190 save() (1 inside)', null], [null, '305 \u2192 save() (1 inside)']]);
  await page.waitForFunction(() => document.querySelector('#found')?.innerText === '2 places');
  await press(page, '.');
  assert.equal((await hashOf(page))['order-row'], '1', 'the row keeps its number');
}));

test('order: on a phone one column has both', () => withPage({payload: page(data()), size: kPhone, scheme: 'dark'}, async page => {
  assert.deepEqual(await shown(page), [['1 main', null], ['2 \u2190 save() (1 inside)', null], ['4 \u2026 121 calls as before', null], ['125 request(int)', null], ['126 \u2026 1 call as before', null],
    [null, '125 + audit() (2 inside)'], ['305 \u2212 check() \u00d7 3', null], [null, '305 \u2192 save() (1 inside)']]);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assert.ok(await page.evaluate(() => [...document.querySelectorAll('.toolbar, .order-row.head .order-side')].every(e => e.scrollWidth <= e.clientWidth)), 'nothing is cut off');
  await page.tap('.order-row.added');
  await settled(page);
  assert.equal((await hashOf(page))['order-row'], '5');
  await picture(page, 'order-phone-dark');
}));

test('order: a hundred thousand rows, of which those in sight are in the document', () => {
  const many = Array.from({length: 100_000}, (_, i) => [i % 2 === 0 ? 0 : 3, 1 + i % 40, 1, 1, i % 2 === 0 ? i + 1 : 0, i + 1, i % 6]);
  return withPage({payload: page(data({edits: many}))}, async page => {
    assert.ok((await shown(page)).length < 100);
    await press(page, 'End');
    assert.match(await chosen(page), /100000/);
    assert.match(await chosen(page), /\[depth 41\]|audit|check|request|main|save|load/);
  });
});

test('order: nothing differs', () => withPage({payload: page(data({edits: [], only_a: 0, only_b: 0, moved: 0}))}, async page => {
  assert.equal(await textOf(page, '.order .empty'), 'Both threads made the same calls, in the same order.');
  await press(page, '.', ',', 'ArrowDown', 'End');
  assert.equal((await hashOf(page))['order-row'], undefined);
}));

test('order: deep calls are indented from the least depth that is shown', () => {
  const deep = Array.from({length: 3000}, (_, i) => [i === 2990 ? 3 : 1, i < 100 ? i : 90 + i % 7, 1, 1, i + 1, i + 1, 0]);
  return withPage({payload: page(data({edits: deep})), hash: '#order-row=2990'}, async page => {
    assert.match(await textOf(page, '.order-row.head'), /indented from depth 91/);
    assert.ok(await page.evaluate(() => [...document.querySelectorAll('.order-body .name')].every(e => e.scrollWidth <= e.clientWidth)), 'no name is cut off');
    await press(page, 'Home');
    assert.doesNotMatch(await textOf(page, '.order-row.head'), /indented/);
  });
});
