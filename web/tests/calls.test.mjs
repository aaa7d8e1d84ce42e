// The tabs about functions and their computations.
import assert from 'node:assert/strict';
import {after, test} from 'node:test';
import {clickBox, closeBrowser, flame, hashOf, kPhone, numbersOf, picture, press, settled, textOf, textsOf, withPage} from './browser.mjs';
import {callsPage, CallsBuilder, smallPage} from './samples.mjs';

after(closeBrowser);

const rows = async page => (await textsOf(page, '.table-body .table-row')).map(row => row.replace(/\s+/g, ' '));

test('functions are added up, sorted and searched', () => withPage({payload: smallPage(), hash: '#tab=functions'}, async page => {
  assert.deepEqual(await rows(page), ['800 ns 800 ns 2 emit', '400 ns 600 ns 1 parse', '200 ns 200 ns 1 Lex', '100 ns 1.5 us 2 main']);
  await page.click('[role=columnheader] >> text=Total');
  assert.deepEqual((await rows(page)).map(row => row.split(' ').pop()), ['main', 'emit', 'parse', 'Lex']);
  assert.equal(await page.getAttribute('[role=columnheader]:nth-child(2)', 'aria-sort'), 'descending');
  await page.click('[role=columnheader] >> text=Function');
  assert.deepEqual((await rows(page)).map(row => row.split(' ').pop()), ['Lex', 'emit', 'main', 'parse']);
  await page.click('[role=columnheader] >> text=Function');
  assert.equal((await rows(page))[0].split(' ').pop(), 'parse');
  await page.goBack();
  await settled(page);
  assert.equal((await rows(page))[0].split(' ').pop(), 'Lex', 'Back takes the order back, too');
  await page.fill('#search', 'E');
  await settled(page);
  assert.equal(await textOf(page, '#found'), '0 functions');
  await page.fill('#search', 'e');
  await settled(page);
  assert.deepEqual((await rows(page)).map(row => row.split(' ').pop()), ['Lex', 'emit', 'parse']);
  assert.equal(await textOf(page, '#found'), '3 functions');
}));

test('a function\'s row shows its numbers, callers and callees, and leads to them', () => withPage({payload: smallPage(), hash: '#tab=functions'}, async page => {
  await page.focus('.table');
  await press(page, 'ArrowDown', 'ArrowDown');
  assert.deepEqual(await numbersOf(page), {total: '600 ns 40.00 % of all', self: '400 ns 26.67 % of all', calls: '1'});
  assert.deepEqual(await textsOf(page, '.bars li'), ['main\n600 ns', 'Lex\n200 ns']);
  await press(page, 'End');
  assert.equal(await textOf(page, '.details h2'), 'main');
  await press(page, 'Home', 'ArrowDown', 'Enter');
  assert.deepEqual(await hashOf(page), {tab: 'callers', fn: '2'});
  assert.equal(await textOf(page, '.sandwich h3'), 'Callers of parse');
  await page.goBack();
  await settled(page);
  await page.click('.bars button >> text=main');
  await settled(page);
  assert.equal(await textOf(page, '.details h2'), 'main');
}));

test('a tab that its key shows takes the keys of its table', () => withPage({payload: smallPage()}, async page => {
  await press(page, '2', 'ArrowDown');
  assert.equal((await hashOf(page)).tab, 'functions');
  assert.equal(await textOf(page, '.details h2'), (await rows(page))[0].split(' ').pop());
  await press(page, '1', 'ArrowRight');
  assert.equal((await hashOf(page)).tab, undefined);
}));

// r calls itself through s; nested time counts once.
function recursive() {
  return callsPage(new CallsBuilder().tree('all', [['a', 5, [['r', 10, [['s', 20, [['r', 40]]], ['leaf', 1]]]]], ['b', 7, [['r', 100, [['leaf', 3]]]]]]).data());
}

const kRecursive = recursive();

test('callers and callees: recursion counts once', () => withPage({payload: kRecursive, hash: '#tab=functions'}, async page => {
  assert.ok((await rows(page)).includes('150 ns 174 ns 3 r'));
  await page.dblclick('.table-row >> text=/^r$/');
  await settled(page);
  const tree = index => flame(page, `(() => { const {tree} = flame.look; return [...tree.fn].map((fn, i) => [tree.depth[i], fn, tree.now.total[i], tree.now.calls[i]]); })()`, index);
  const number = name => kRecursive.data.calls.functions.findIndex(info => info[0] === name);
  assert.deepEqual(await tree(0), [[0, number('r'), 174, 2], [1, number('b'), 103, 1], [1, number('a'), 71, 1]]);
  assert.deepEqual(await tree(1), [[0, number('r'), 174, 2], [1, number('s'), 60, 1], [2, number('r'), 40, 1], [1, number('leaf'), 4, 2]]);
  assert.deepEqual(await numbersOf(page), {total: '174 ns 93.55 % of all', self: '110 ns 59.14 % of all', calls: '2'});
  await clickBox(page, 1, 1);
  assert.equal(await textOf(page, '.details h2'), 's');
  assert.equal((await hashOf(page))['callees-at'], '1');
  await page.click('text=Callers and callees of this');
  assert.equal(await textOf(page, '.sandwich h3'), 'Callers of s');
  await clickBox(page, 2, 0);
  await page.click('text=Copy stack');
  await page.waitForSelector('.toast:not([hidden])');
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'a\nr\ns', 'a stack begins with the outermost call');
  await picture(page, 'callers');
}));

test('on a phone', () => withPage({payload: recursive(), hash: '#tab=callers', size: kPhone}, async page => {
  assert.ok(!await page.isVisible('.side-table'));
  assert.equal(await page.evaluate(() => document.querySelectorAll('.flame').length), 2);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await page.click('text=Functions');
  await settled(page);
  assert.deepEqual(await textsOf(page, '[role=columnheader]:not(.minor)'), ['Self \u25be', 'Total', 'Function']);
  await picture(page, 'functions-phone');
}));

// before: main 100 { a 50, gone 30 }; now: main 100 { a 150, fresh 20 }.
function compared() {
  const builder = new CallsBuilder().tree('all threads', [['main', 100, [['a', 150], ['fresh', 20], ['gone', 0, [], 0]]]]);
  const before = {calls: [0, 1, 1, 0, 2], inside: [4, 4, 1, 0, 2], total_ns: [180, 180, 50, 0, 30], self_ns: [0, 100, 50, 0, 30]};
  builder.trees[0].before = before;
  return callsPage(builder.data({compared: {before: 'old.xray', after: 'new.xray'}}));
}

test('two recordings: red grew, blue shrank, and both numbers are shown', () => withPage({payload: compared()}, async page => {
  const [kMain, kA, kFresh, kGone] = [1, 2, 3, 4];
  const hue = async node => Number(/hsl\((\d+)/.exec(await flame(page, `flame.look.colour(${node})`))[1]);
  assert.equal(await hue(kA), 6);
  assert.equal(await hue(kFresh), 6);
  assert.equal(await hue(kGone), 214);
  assert.equal(await hue(kMain), 6);
  await clickBox(page, kA);
  assert.deepEqual(await numbersOf(page), {total: '50 ns \u2192 150 ns +200 %', self: '50 ns \u2192 150 ns +200 %', calls: '1 \u2192 1 same', share: '27.78 % \u2192 55.56 %'});
  await page.check('text=Normalised');
  await settled(page);
  assert.equal((await numbersOf(page)).total, '50 ns \u2192 150 ns share +100 %', 'shares: 27.78 % of 180 ns became 55.56 % of 270 ns');
  await clickBox(page, kMain);
  assert.equal(await hue(kMain), 220, 'as large a share of its recording as it was');
  await page.uncheck('text=Normalised');
  await page.selectOption('[data-choice=of]', 'before');
  await settled(page);
  assert.equal(await flame(page, `flame.look.width[${kGone}]`), 30);
  assert.equal(await flame(page, `flame.look.width[${kFresh}]`), 0);
  await clickBox(page, kGone);
  assert.equal((await numbersOf(page)).total, '30 ns \u2192 0 ns gone');
  await picture(page, 'compared');
  await page.click('text=Functions');
  await settled(page);
  assert.deepEqual((await rows(page)).map(row => row.split(' ').pop()), ['a', 'gone', 'fresh', 'main']);
  assert.ok((await rows(page))[0].includes('+200 %'));
  await page.click('text=Callers and callees');
  await settled(page);
  assert.equal(await page.evaluate(() => document.querySelectorAll('.flame').length), 2);
}));
