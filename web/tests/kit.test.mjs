// The kit's general components: tables, bars, source, the shell; and hostile text.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {after, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {closeBrowser, flame, hashOf, picture, placeOf, press, settled, textOf, textsOf, withPage} from './browser.mjs';
import {callsPage, CallsBuilder, generated, kHostile} from './samples.mjs';

after(closeBrowser);

const page = (tabs, data, more = {}) => ({telltale_page: 1, title: 'A page', facts: [['file', 'x'], ['calls', '1234567'], ['losses', '3; 17 bytes']], summary: ['calls', 'losses'], data, tabs, ...more});
const kMany = 100000;
const bigTable = () => page([{id: 'rows', kind: 'table', title: 'Rows', data: 'rows'}], {rows: {
  columns: [{key: 'name', title: 'Name', type: 'text'}, {key: 'time', title: 'Time', type: 'unsigned', unit: 'ns', about: 'How long it took'},
            {key: 'size', title: 'Size', type: 'unsigned', unit: 'bytes', minor: true}, {key: 'part', title: 'Part', type: 'double', unit: 'fraction'}],
  rows: Array.from({length: kMany}, (_, i) => [`row ${i}`, i * 1000, i === 5 ? null : i, i / kMany]),
}});

test('a table of 100,000 rows has only those in sight in the document', () => withPage({payload: bigTable()}, async page => {
  const count = () => page.evaluate(() => document.querySelectorAll('.table-body .table-row').length);
  const first = async () => (await textsOf(page, '.table-body .table-row'))[0].replace(/\s+/g, ' ');
  assert.ok(await count() < 60);
  assert.equal(await page.getAttribute('.table', 'aria-rowcount'), String(kMany + 1));
  assert.equal(await first(), 'row 0 0 ns 0 bytes 0 %');
  await page.evaluate(() => { document.querySelector('.table').scrollTop = 28 * 50000; });
  await settled(page);
  assert.ok(await count() < 60);
  assert.ok((await textsOf(page, '.table-body .table-row')).some(row => row.startsWith('row 50000')));
  await page.click('[role=columnheader] >> text=Time');
  await page.evaluate(() => { document.querySelector('.table').scrollTop = 0; });
  await settled(page);
  assert.equal(await first(), 'row 99999 100 ms 97.66 KiB 100 %');
  await page.focus('.table');
  await press(page, 'ArrowDown', 'End');
  assert.equal((await hashOf(page))['rows-row'], '0', 'the last row of this order is the first of the data');
  const seen = () => page.evaluate(() => {
    const row = document.querySelector('.table-row.chosen').getBoundingClientRect();
    const table = document.querySelector('.table').getBoundingClientRect();
    return row.bottom <= table.bottom + 1 && row.top >= table.top;
  });
  assert.ok(await seen(), 'the chosen row is in sight');
  assert.equal(await page.getAttribute('.table', 'aria-activedescendant'), 'row-0');
  await press(page, 'Home', 'PageDown');
  for (let i = 0; i < 4; i++) {  // over the lower edge
    await press(page, 'ArrowDown');
    assert.ok(await seen(), `in sight after ${i + 1} rows more than a page`);
  }
  await page.fill('#search', 'row 777$');
  await settled(page);
  assert.equal(await textOf(page, '#found'), '1 rows');
  assert.equal(await first(), 'row 777 777 us 777 bytes 0.78 %');
}));

test('source with marks, and bars', () => {
  const lines = Array.from({length: 5000}, (_, i) => `line ${i + 10};`);
  const data = {code: {file: 'a.cc', first: 10, lines, marks: [{line: 12, text: 'ran 3 times', value: 0.9}]}, bars: {unit: 'bytes', bars: [{label: 'one', value: 2048}, {label: 'two', value: 1024, note: 'half'}]}};
  const payload = page([{id: 'code', kind: 'source', title: 'Source', data: 'code'}, {id: 'bars', kind: 'bars', title: 'Bars', data: 'bars'}], data);
  return withPage({payload, hash: '#code-line=4000'}, async page => {
    assert.ok(await page.evaluate(() => document.querySelectorAll('.source-line').length) < 80);
    assert.equal(await textOf(page, '.source-line.chosen code'), 'line 4000;');
    await page.evaluate(() => { document.querySelector('.source').scrollTop = 0; });
    await settled(page);
    assert.equal(await textOf(page, '.source-line.marked .note'), 'ran 3 times');
    await page.click('.source-line button >> text=11');
    assert.equal((await hashOf(page))['code-line'], '11');
    await picture(page, 'source');
    await page.click('text=Bars');
    assert.deepEqual(await textsOf(page, '.bars li'), ['one\n2 KiB', 'two\n1 KiB \u00b7 half']);
    const widths = await page.evaluate(() => [...document.querySelectorAll('.bars .bar')].map(e => e.getBoundingClientRect().width));
    assert.ok(Math.abs(widths[1] / widths[0] - 0.5) < 0.01);
    await page.click('text=Recording');
    assert.deepEqual(await textsOf(page, '.facts dd'), ['x', '1234567', '3; 17 bytes']);
    assert.equal(await textOf(page, '.summary .loss'), ' \u00b7 losses 3; 17 bytes');
    assert.match(await textOf(page, '.summary'), /calls 1,234,567/);
  });
});

const predictor = (rank, more = {}) => ({rank, predicate: `p${rank} > 0`, function: 'f', file: 'a.c', line: 10 + rank, scheme: 'branches', importance: 0.9 / rank, failure: 0.8, context: 0.2,
  increase: 0.6, low: 0.4, high: 0.7, failed: 40 / rank, passed: 10 / rank, observed_failed: 50, observed_passed: 200, explained: 40 / rank, same: [], affinity: [], failed_runs: [3, 4, 5, 9], reports: ['s/reports/3.report', '../a b/4?.report', 'javascript:alert(1)', ''], ...more});
const predictorsPage = (rows, more = {}) => page([{id: 'predictors', kind: 'predictors', title: 'Predictors', data: 'p'}],
  {p: {runs: {failed: 50, passed: 200}, rows, sources: [{file: 'a.c', first: 1, lines: Array.from({length: 60}, (_, i) => `line ${i + 1};`),
    sites: [{line: 11, sites: 4, predicate: 'p1 > 0', importance: 0.9, failed: 40, passed: 10}, {line: 13, sites: 2, predicate: 'q > 0', importance: 0.25, failed: 7, passed: 1200}, {line: 15, sites: 1, predicate: 'r', importance: 0, failed: 0, passed: 3}]}], ...more}});

test('predictors: ranked, with source, thermometer and runs', () => {
  const other = {predicate: 'q < 1', function: 'g', file: 'b.c', line: 7};
  const rows = [predictor(1, {same: [other]}), predictor(2, {affinity: [{...other, before: 0.5, after: 0.1}], line: 999}), predictor(4)];
  return withPage({payload: predictorsPage(rows)}, async page => {
    assert.deepEqual((await textsOf(page, '.table-body .table-row')).map(row => row.split(/\s+/)[0]), ['1', '2', '4']);
    assert.equal(await textOf(page, '.source-line.chosen code'), 'line 11;');
    assert.equal(await textOf(page, '.source-line.chosen .note'), '#1 p1 > 0');
    assert.match(await textOf(page, '.details'), /importance\s+90\.00 %[^]*40 of 50 runs[^]*50 of 250 runs[^]*40\.00 % to 70\.00 %[^]*True in the same runs[^]*q < 1[^]*g \u00b7 b\.c:7[^]*Failed runs in which it was true \(the first 4\)/);
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('.runs > *')].map(run => [run.textContent, run.getAttribute('href')])),
      [['3', './s/reports/3.report'], ['4', './../a%20b/4%3F.report'], ['5', './javascript%3Aalert(1)'], ['9', null]]);
    assert.deepEqual(await textsOf(page, '.source-line.unlit .note'), ['2 sites: q > 0, 7 failed, 1,200 passed', '1 site']);
    // The parts of a thermometer are shares of the runs, and the widest bar has most runs.
    const meters = await page.evaluate(() => [...document.querySelectorAll('.thermometer > span')].map(bar => [bar.getBoundingClientRect().width, [...bar.children].map(part => part.getBoundingClientRect().width)]));
    assert.ok(meters[0][0] > meters[1][0] && meters[1][0] > meters[2][0]);
    const whole = meters[0][1].reduce((sum, width) => sum + width, 0);
    assert.deepEqual(meters[0][1].map(width => Math.round(20 * width / whole) / 20), [0.2, 0.4, 0.2, 0.2]);
    assert.match(await page.getAttribute('.thermometer', 'aria-label'), /context 20\.00 %, increase at least 40\.00 %, failure 80\.00 %, 50 runs/);
    await picture(page, 'predictors');
    await page.focus('.table');
    await press(page, 'ArrowDown');
    assert.equal((await hashOf(page))['predictors-row'], '1');
    assert.equal(await page.evaluate(() => document.querySelector('.source')), null, 'no source of a line that the file does not have');
    assert.match(await textOf(page, '.details'), /Loses importance without these runs[^]*50\.00 %, without these runs 10\.00 %/);
    await page.fill('#search', 'p4');
    await settled(page);
    assert.equal(await textOf(page, '#found'), '1 predictors');
  });
});

test('predictors of one line: the chosen one is beside it, otherwise the best', () => {
  const rows = [1, 2, 3, 4].map(rank => predictor(rank, {line: rank === 2 ? 14 : 11}));
  return withPage({payload: predictorsPage(rows)}, async page => {
    const notes = () => textsOf(page, '.source-line:not(.unlit) .note');
    assert.deepEqual(await notes(), ['#1 p1 > 0 and 2 others', '#2 p2 > 0']);
    await page.focus('.table');
    await press(page, 'ArrowDown');
    assert.deepEqual(await notes(), ['#1 p1 > 0 and 2 others', '#2 p2 > 0']);
    await press(page, 'ArrowDown');
    assert.deepEqual(await notes(), ['#3 p3 > 0 and 2 others', '#2 p2 > 0']);
    assert.equal(await page.evaluate(() => document.querySelector('.source-line.chosen').style.getPropertyValue('--mark')), '0.9', 'as strong as the best of the line');
    const [above, below, widest] = await page.evaluate(() => [document.querySelector('.numbers').getBoundingClientRect().bottom, document.querySelector('.facts').getBoundingClientRect().top,
      new Set([...document.querySelectorAll('.numbers dd')].map(value => Math.round(value.getBoundingClientRect().left))).size]);
    assert.ok(below - above >= 6, 'the facts do not touch the numbers');
    assert.equal(widest, 1, 'the numbers are below each other');
  });
});

test('the texts beside marked lines can be read in light and dark', async () => {
  for (const scheme of ['light', 'dark']) {
    await withPage({payload: predictorsPage([predictor(1), predictor(2)]), scheme}, async page => {
      const contrasts = await page.evaluate(() => {
        const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
        const shownAs = colours => {
          for (const colour of colours) {
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
          }
          return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)].map(part => part / 255).map(part => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        };
        const luminance = colours => shownAs(colours).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
        const ground = getComputedStyle(document.body).backgroundColor;
        return [...document.querySelectorAll('.source-line.marked :is(.note, .number)')].map(text => {
          const line = getComputedStyle(text.closest('.source-line')).backgroundColor;
          const [low, high] = [luminance([ground, line]), luminance([ground, line, getComputedStyle(text).color])].sort((a, b) => a - b);
          return (high + 0.05) / (low + 0.05);
        });
      });
      assert.equal(contrasts.length, 8);
      assert.ok(contrasts.every(contrast => contrast >= 4.5), `${scheme}: ${contrasts}`);
    });
  }
});

test('a table gives long texts the room that short ones leave', () => {
  const stack = 'format_number < cell_text < print_cell < show_area < show_sheet';
  const data = {columns: [{key: 'id', title: 'Cluster', type: 'text'}, {key: 'ending', title: 'Ending', type: 'text'}, {key: 'stack', title: 'Stack', type: 'text'}, {key: 'why', title: 'Predictors', type: 'text'}],
                rows: [['85c18a29', 'SIGSEGV', stack, '#2 in 8'], ['e89ffec6', 'SIGSEGV', 'f', '']]};
  const isCut = page => page.evaluate(() => [...document.querySelectorAll('.table-row [role=gridcell]')].map(cell => cell.scrollWidth > cell.clientWidth));
  return withPage({payload: page([{id: 'rows', kind: 'table', title: 'Rows', data: 'rows'}], {rows: data}), size: {width: 1200, height: 600}}, async page =>
    assert.deepEqual(await isCut(page), Array(8).fill(false)));
});

test('predictors: the line of a place is never cut', () => {
  const rows = [predictor(1, {file: 'folder/a_long_name_of_a_source_file.cc', line: 12345}), predictor(2)];
  return withPage({payload: predictorsPage(rows), size: {width: 1280, height: 900}}, async page => {
    assert.deepEqual(await shown(page, '.short-place'), ['a_long_name_of_a_source_file.cc:12345', 'a.c:12']);
    const [line, cell] = await page.evaluate(() => [document.querySelector('.short-place').lastElementChild, document.querySelector('.short-place').closest('[role=gridcell]')]
      .map(element => element.getBoundingClientRect().toJSON()));
    assert.ok(line.width > 0 && line.left > cell.left && line.right <= cell.right, JSON.stringify([line, cell]));
  });
});

test('a page without a predictor says so', () => withPage({payload: predictorsPage([])}, async page =>
  assert.match(await textOf(page, '.empty'), /No predicate predicts failure: 50 runs failed, 200 passed/)));

test('what a page cannot show, it says', async () => {
  for (const [payload, told] of [[page([{id: 'a', kind: 'new', title: 'New', data: 'a'}], {a: 1}), /cannot show a tab of kind new/],
    [page([{id: 'a', kind: 'constructor', title: 'New', data: 'a'}], {a: 1}), /cannot show a tab of kind constructor/],
    [page([{id: 'a', kind: 'table', title: 'New', data: 'b'}], {a: 1}), /wants data "b", which is not in this page/],
    [{...page([], {}), telltale_page: 2}, /data is of version 2, not 1/], [page([], {}), /names no tab/]]) {
    await withPage({payload}, async page => assert.match(await page.evaluate(() => document.body.innerText), told));
  }
});

test('no source makes code or markup of text', () => {
  const folder = fileURLToPath(new URL('../src', import.meta.url));
  const files = fs.readdirSync(folder, {recursive: true}).filter(name => /\.tsx?$/.test(name));
  assert.ok(files.length > 20, 'the sources were found');
  const forbidden = /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySet|document\.write|createContextualFragment|\beval\b|new Function|javascript:|setTimeout\(['"`]/;
  for (const file of files) assert.doesNotMatch(fs.readFileSync(`${folder}/${file}`, 'utf8'), forbidden, file);
});

// Every place where a page shows text, each with every one of the texts; where there is but one, all of them in a row.
function hostilePage(texts) {
  const all = texts.join(' ');
  const builder = new CallsBuilder().tree(all, [...texts.map(text => [text, 100, [['callee', 5]]]), ['other', 3, texts.map(text => [text, 2])]]);
  for (const info of builder.functions) {
    if (texts.includes(info[0])) info.splice(0, info.length, info[0], info[0], 7, info[0]);
  }
  const site = text => ({line: 1, sites: 1, predicate: text, importance: 1, failed: 1, passed: 1});
  const other = text => ({predicate: text, function: text, file: text, line: 1});
  const predictorOf = (text, i) => predictor(i + 1, {...other(text), scheme: text, reports: [text, text, text, text], same: [other(text)], affinity: [{...other(text), before: 1, after: 0}]});
  const data = {calls: builder.data({compared: undefined}), rows: {columns: [{key: all, title: all, about: all, type: 'text'}], rows: [...texts.map(text => [text]), ['x']]},
                bars: {bars: texts.map(text => ({label: text, value: 1, note: text}))}, code: {file: all, first: 1, lines: texts, marks: texts.map((text, i) => ({line: i + 1, text, value: 1}))},
                predictors: {runs: {failed: 1, passed: 1}, sources: texts.map(text => ({file: text, first: 1, lines: [text], sites: [site(text)]})), rows: texts.map(predictorOf)},
                order: {a: all, b: all, same: 0, only_a: texts.length, only_b: 0, moved: 0, functions: texts, edits: texts.map((_, i) => [2, 0, 1, 1, i + 1, 0, i])},
                steps: {frames: [{thread: 1, number: 0, function: all, place: all, history: all, here: 1, steps: texts.map((text, i) => [0, 0, i + 1, text])}], sources: [{file: all, first: 1, lines: texts}]},
                coverage: {functions: texts.map((text, i) => ({function: text, ran: 'yes', source: i, line: 1, mechanisms: text, yes: 1, no: 0, maybe: 0})),
                           lines: texts.map((_, i) => [i, 1, 'yes']), sources: texts.map(text => ({file: text, first: 1, lines: [text]}))}};
  const tabs = [{id: 'flame', kind: 'flame', title: 'Flame', data: 'calls'}, {id: 'functions', kind: 'functions', title: 'Functions', data: 'calls'}, {id: 'callers', kind: 'callers', title: 'Callers', data: 'calls'},
                ...['rows:table', 'bars', 'code:source', 'predictors', 'steps', 'coverage', 'order'].map(tab => tab.split(':')).map(([id, kind = id]) => ({id, kind, title: all, data: id}))];
  return callsPage(null, {title: all, facts: [...texts.map(text => [text, text]), ['span', all]], summary: [...texts, 'span'], data, tabs});
}
// Links to reports are ours; that they lead to files is tested above.
const kInjected = '(() => [window.pwned, document.querySelectorAll("img, svg, iframe, b, a:not(.runs > a), style ~ style, meta[http-equiv=refresh]").length, document.scripts.length])()';

// The texts of a page's elements, without what surrounds them.
const shown = (page, selector) => page.evaluate(s => [...document.querySelectorAll(s)].map(e => e.textContent), selector);

test('hostile text is only text, in every tab', async () => {
  const short = kHostile.filter(text => text.length < 1000);
  const groups = kHostile.filter(text => text.length >= 1000).map(text => [text]);
  for (let i = 0; i < short.length; i += 12) groups.push(short.slice(i, i + 12));
  for (const texts of groups) {
    await withPage({payload: hostilePage(texts)}, async page => {
      assert.equal(await page.evaluate(() => document.querySelector('h1').textContent), texts.join(' '));
      for (const [i, text] of texts.entries()) {
        const node = 2 * i + 1;
        await page.mouse.move(...await placeOf(page, node));
        await settled(page);
        assert.equal(await page.evaluate(() => document.querySelector('.tip .name').textContent), text);
        await page.evaluate(node => { location.hash = `#box=${node}`; }, node);
        await page.waitForFunction(text => document.querySelectorAll('.details .facts dd').length > 1 && document.querySelector('.details .facts dd').textContent === text, text);
        await page.evaluate(i => { location.hash = `#tab=callers&fn=${i}`; }, await flame(page, `flame.look.tree.fn[${node}]`));
        await page.waitForFunction(text => document.querySelector('.details .facts dd')?.textContent === text, text);
        assert.deepEqual(await page.evaluate(kInjected), [undefined, 0, 2], text);
        await page.evaluate(() => { location.hash = '#tab=flame'; });
        await page.waitForSelector('.flame canvas');
      }
      for (const [tab, selector] of [['functions', '.table-body .name'], ['rows', '.table-body .name'], ['bars', '.bars .name'], ['code', '.source code'], ['predictors', '.table-body .name'], ['predictors', '.predicates .name'], ['steps', '.source code'], ['coverage', '.table-body .name'], ['order', '.order-body .name'], ['recording', '.facts dd']]) {
        await page.evaluate(([tab, q]) => { location.hash = `#tab=${tab}&q=${q}`; }, [tab, encodeURIComponent(texts[0].slice(0, 200))]);
        await page.waitForFunction(tab => document.querySelector('[role=tab][aria-selected=true]').id === `tab-${tab}`, tab);
        await page.evaluate(tab => { location.hash = `#tab=${tab}`; }, tab);
        await page.waitForSelector(selector, {state: 'attached'});
        await settled(page);
        const seen = await shown(page, selector);
        // A function is listed with the short form of its name; the loop above has seen the long ones.
        if (selector.startsWith('.predicates')) assert.equal(seen[0], texts[0]);
        else if (tab !== 'functions') assert.deepEqual(texts.filter(text => !seen.includes(text)), [], tab);
        assert.deepEqual(await page.evaluate(kInjected), [undefined, 0, 2], tab);
      }
    });
  }
});

test('ten thousand generated names are only text', () => {
  const names = generated(10000);
  const builder = new CallsBuilder().tree('all', names.map((name, i) => [name, 1 + (i % 100)]));
  return withPage({payload: callsPage(builder.data())}, async page => {
    const wrong = await page.evaluate(async names => {
      const flame = document.querySelector('.flame canvas').flame;
      const kept = text => new TextDecoder().decode(new TextEncoder().encode(text));
      const wrong = [];
      for (let node = 1; node < flame.look.tree.size; node += 97) {
        location.hash = `#box=${node}`;
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        const shown = document.querySelector('.details .facts dd');
        if (kept(shown.textContent) !== kept(names[flame.look.tree.fn[node]]) || shown.children.length > 0) wrong.push([shown.textContent, names[flame.look.tree.fn[node]], location.hash]);
        flame.look.label(node);
      }
      return wrong;
    }, builder.functions.map(info => info[0]));
    assert.deepEqual(wrong, []);
    const labels = await flame(page, '[...flame.look.tree.fn].map((_, node) => flame.look.label(node)).filter(label => label === "").length');
    assert.equal(labels, 0, 'every box has a label');
    assert.equal(await page.evaluate(() => window.pwned), undefined);
  });
});
