// The flame graph tab, driven by mouse, touch and keys.
import assert from 'node:assert/strict';
import {after, test} from 'node:test';
import {clickBox, closeBrowser, flame, hashOf, kPhone, numbersOf, picture, placeOf, press, settled, textOf, textsOf, withPage} from './browser.mjs';
import {callsPage, CallsBuilder, smallCalls, smallPage} from './samples.mjs';

after(closeBrowser);

const [kMain, kEmit, kParse, kLex] = [1, 2, 3, 4];
const found = page => textOf(page, '#found');

test('a click zooms and shows the numbers of the box', () => withPage({payload: smallPage()}, async page => {
  assert.deepEqual(await numbersOf(page), {total: '1.5 us 100 % of all', self: '0 ns 0 % of all', calls: '6'});
  await clickBox(page, kParse);
  assert.deepEqual(await numbersOf(page), {total: '600 ns 40.00 % of all', self: '400 ns 26.67 % of all', calls: '1'});
  assert.deepEqual(await hashOf(page), {at: '3', box: '3'});
  const [left, width] = await flame(page, `[(flame.start[3] - flame.range[0]) / (flame.range[1] - flame.range[0]), flame.look.width[3] / (flame.range[1] - flame.range[0])]`);
  assert.ok(Math.abs(left) < 1e-6 && Math.abs(width - 1) < 1e-6, 'the box fills the width');
  assert.deepEqual(await textsOf(page, '.crumbs button'), ['all threads', 'main', 'parse']);
  await page.click('.crumbs button >> nth=1');
  assert.equal((await hashOf(page)).at, '1');
  await page.click('text=Reset zoom');
  assert.equal((await hashOf(page)).at, undefined);
  assert.ok(await page.isDisabled('text=Reset zoom'));
}));

test('no name is long enough to hide the numbers', async () => {
  const long = `void ns::f<${'std::vector<int, std::allocator<int> >, '.repeat(200)}int>(int)`;
  const plain = 'word'.repeat(2000);
  const data = new CallsBuilder().tree('all', [[long, 10, [[plain, 20]]]]).data();
  for (const size of [{width: 1440, height: 900}, kPhone]) {
    await withPage({payload: callsPage(data), size}, async page => {
      for (const node of [1, 2]) {
        await clickBox(page, node);
        const boxes = await page.evaluate(() => [...document.querySelectorAll('.details .numbers dd')].map(e => e.getBoundingClientRect()).map(b => [b.left, b.right, b.top, b.bottom]));
        assert.equal(boxes.length, 3);
        for (const [left, right, top, bottom] of boxes) assert.ok(left >= 0 && right <= size.width && top >= 0 && bottom <= size.height && right > left, `${[left, right, top, bottom]}`);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      }
      await clickBox(page, 1);
      assert.equal(await textOf(page, '.details h2'), 'ns::f<\u2026>');
    });
  }
});

test('a tap on a phone shows numbers, and the header leaves the screen to the graph', () => withPage({payload: smallPage(), size: kPhone}, async page => {
  await page.touchscreen.tap(...await placeOf(page, kParse));
  await settled(page);
  assert.deepEqual(await numbersOf(page), {total: '600 ns 40.00 % of all', self: '400 ns 26.67 % of all', calls: '1'});
  const seen = await page.evaluate(() => [...document.querySelectorAll('.details .numbers dd')].every(e => {
    const box = e.getBoundingClientRect();
    return box.bottom <= innerHeight && document.elementFromPoint(box.left + 2, box.top + 2)?.closest('dd') === e;
  }));
  assert.ok(seen, 'the numbers are on the screen and nothing covers them');
  assert.ok(await page.evaluate(() => document.querySelector('.flame').getBoundingClientRect().top / innerHeight) < 0.2);
  assert.ok(await page.evaluate(() => document.querySelector('header').getBoundingClientRect().height / innerHeight) < 0.12);
  assert.ok(!await page.isVisible('.details .facts'));
  await page.tap('.details .more');
  assert.ok(await page.isVisible('.details .facts'));
  await picture(page, 'phone');
}));

test('a pinch zooms, a finger moves', () => withPage({payload: smallPage(), size: kPhone}, async page => {
  const touch = await page.context().newCDPSession(page);
  const y = (await placeOf(page, kMain))[1];
  const send = (type, ...xs) => touch.send('Input.dispatchTouchEvent', {type, touchPoints: xs.map((x, id) => ({x, y, id}))});
  await send('touchStart', 150, 250);
  for (let step = 1; step <= 5; step++) await send('touchMove', 150 - 20 * step, 250 + 20 * step);
  await send('touchEnd');
  await settled(page);
  const [from, to] = await flame(page, 'flame.range');
  const all = 1500;
  assert.ok(Math.abs((to - from) / all - 1 / 3) < 0.02, `a third is in view, not ${(to - from) / all}`);
  await page.waitForFunction(() => location.hash.includes('view='));
  await send('touchStart', 200);
  for (let step = 1; step <= 5; step++) await send('touchMove', 200 + 10 * step);
  await send('touchEnd');
  await settled(page);
  const moved = await flame(page, 'flame.range');
  assert.ok(moved[0] < from, 'to the right shows what is on the left');
  assert.ok(Math.abs((moved[1] - moved[0]) - (to - from)) < 1e-6);
  assert.equal((await hashOf(page)).at, undefined, 'neither was a tap');
}));

test('the wheel zooms about the pointer, drags move, and the address keeps the place', () => withPage({payload: smallPage()}, async page => {
  const [x, y] = (await placeOf(page, kParse)).map(Math.round);
  await page.mouse.move(x, y);
  const under = () => flame(page, `flame.range[0] + ${x} / flame.shownWidth * (flame.range[1] - flame.range[0])`);
  const before = await under();
  await page.mouse.wheel(0, -400);
  await page.waitForFunction(() => location.hash.includes('view='));
  const [from, to] = await flame(page, 'flame.range');
  assert.ok(to - from < 0.6 * 1500);
  assert.ok(Math.abs(await under() - before) < 0.01, 'what is under the pointer stays there');
  await page.mouse.down();
  await page.mouse.move(x - 100, y, {steps: 4});
  await page.mouse.up();
  await settled(page);
  const dragged = await flame(page, 'flame.range');
  assert.ok(dragged[0] > from);
  assert.equal((await hashOf(page)).at, undefined, 'a drag is no click');
  for (let i = 0; i < 30; i++) await page.mouse.wheel(0, 400);
  await page.waitForFunction(() => !location.hash.includes('view='));
  assert.deepEqual(await flame(page, 'flame.range'), [0, 1500]);
  await page.mouse.wheel(0, 120);
  assert.deepEqual(await flame(page, 'flame.range'), [0, 1500], 'there is nothing beside the whole');
}));

test('Shift and the wheel scroll the rows', async () => {
  let chain = ['f199', 1];
  for (let i = 198; i >= 0; i--) chain = [`f${i}`, 1, [chain]];
  await withPage({payload: callsPage(new CallsBuilder().tree('all', [chain]).data())}, async page => {
    await page.mouse.move(300, 300);
    await page.keyboard.down('Shift');
    await page.mouse.wheel(0, 500);
    await page.keyboard.up('Shift');
    await settled(page);
    assert.ok(await flame(page, 'flame.scroller.scrollTop') > 100);
    assert.deepEqual(await flame(page, 'flame.range'), [0, 200]);
  });
});

test('the pointer shows a tip', () => withPage({payload: smallPage()}, async page => {
  await page.mouse.move(...await placeOf(page, kParse));
  await settled(page);
  assert.equal(await textOf(page, '.tip .name'), 'parse');
  assert.deepEqual(await textsOf(page, '.tip tr'), ['total\t600 ns\t40.00 % of all', 'self\t400 ns\t26.67 % of all', 'calls\t1\t']);
  await page.mouse.move(600, 780);
  await settled(page);
  assert.equal(await textOf(page, '.tip'), null);
}));

test('keys do what the mouse does', () => withPage({payload: smallPage()}, async page => {
  const state = async () => { const {at, box} = await hashOf(page); return [at ?? '', box ?? '']; };
  await press(page, 'ArrowDown', 'ArrowDown', 'ArrowDown');
  assert.deepEqual(await state(), ['', String(kEmit)]);
  await press(page, 'ArrowRight');
  assert.deepEqual(await state(), ['', String(kParse)]);
  await press(page, 'ArrowDown', 'ArrowUp', 'ArrowLeft');
  assert.deepEqual(await state(), ['', String(kEmit)]);
  await press(page, 'Enter');
  assert.deepEqual(await state(), ['2', '2']);
  await press(page, 'Backspace');
  assert.deepEqual(await state(), ['1', '1']);
  await press(page, 'Home');
  assert.deepEqual(await state(), ['', '0']);
  await press(page, 'i');
  assert.equal((await hashOf(page)).up, '1');
  assert.ok((await placeOf(page, kMain))[1] < (await placeOf(page, 0))[1]);
  await press(page, 'ArrowUp');
  assert.deepEqual(await state(), ['', '1'], 'up leads to callees now');
  await press(page, '/');
  await page.keyboard.type('Lex|emit');
  assert.deepEqual(await hashOf(page), {box: '1', up: '1', q: 'Lex|emit'});
  await press(page, 'Enter');
  assert.equal((await state())[1], String(kEmit));
  await press(page, 'Enter', 'Enter');
  assert.equal((await state())[1], String(kEmit), 'the next match after the last is the first');
  await press(page, 'Shift+Enter');
  assert.equal((await state())[1], String(kLex));
  await press(page, 'Escape');
  assert.equal((await hashOf(page)).q, undefined);
  await press(page, 'Escape');
  assert.equal((await state())[1], '');
  await press(page, '+');
  assert.ok((await hashOf(page)).view);
  await press(page, '?');
  assert.ok(await page.isVisible('dialog'));
  await press(page, 'Escape');
  assert.ok(!await page.isVisible('dialog'));
  await press(page, '2');
  assert.equal((await hashOf(page)).tab, 'functions');
}));

test('Back, Forward and copied links', () => withPage({payload: smallPage()}, async page => {
  await clickBox(page, kMain);
  await clickBox(page, kParse);
  await page.click('text=Functions');
  await page.goBack();
  await settled(page);
  assert.deepEqual(await hashOf(page), {at: '3', box: '3'});
  assert.equal(await textOf(page, '.details h2'), 'parse');
  await page.goBack();
  await settled(page);
  assert.equal(await textOf(page, '.details h2'), 'main');
  assert.deepEqual(await flame(page, '[flame.zoomed, flame.range[1] - flame.range[0]]'), [1, 1500]);
  await page.goForward();
  await settled(page);
  assert.equal(await flame(page, 'flame.zoomed'), kParse);
  await page.click('text=Copy link');
  await page.waitForSelector('.toast:not([hidden])');
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const other = await page.context().newPage();
  await other.goto(link);
  await other.waitForSelector('.flame');
  await settled(other);
  assert.equal(await flame(other, 'flame.zoomed'), kParse);
  assert.equal(await textOf(other, '.details h2'), 'parse');
  await other.close();
}));

test('an address from elsewhere does no harm', async () => {
  for (const hash of ['#at=99999&box=-1&tree=17&tab=none', '#at=1e3&view=0.9-0.1', '#view=a-b&q=((((', '#%E0%A4%A', '#at=3&view=0.2-0.4&colour=__proto__&by=x&side=y&sort=constructor&tab=functions', '#tab=callers&fn=4294967296']) {
    await withPage({payload: smallPage(), hash}, async page => {
      assert.equal(await textOf(page, 'h1'), 'small.xray');
      assert.ok(await page.evaluate(() => document.querySelector('.flame, .table') !== null), hash);
    });
  }
});

test('copying', () => withPage({payload: smallPage()}, async page => {
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await clickBox(page, kLex);
  await page.click('text=Copy name');
  await page.waitForSelector('.toast:not([hidden])');
  assert.equal(await clipboard(), 'Lex');
  await page.click('text=Copy stack');
  await page.waitForFunction(() => document.querySelector('.toast').innerText.includes('stack'));
  assert.equal(await clipboard(), 'main\nparse\nLex');
}));

test('nested matches count once', () => withPage({payload: smallPage()}, async page => {
  for (const [text, told] of [['main|parse|lex|emit', '100 % matched'], ['parse|lex', '40.00 % matched'], ['lex|main', '100 % matched'], ['parse|lex|emit', '93.33 % matched'],
    ['nothing', 'no match'], ['(', 'not a regular expression'], ['^lex$|P', 'no match'], ['', '']]) {
    await page.fill('#search', text);
    await settled(page);
    assert.equal(await found(page), told, text);
    assert.equal(await page.getAttribute('#search', 'aria-invalid'), String(text === '('));
  }
}));

test('a search finds a name that is copied into it', () => {
  const names = ['work(int)', 'Vec::operator->*(int) const', 'x[abi:cxx11]()', 'work'];
  const data = new CallsBuilder().tree('thread 1', names.map((name, i) => [name, 1000 - 100 * i])).data();
  return withPage({payload: callsPage(data), hash: '#tab=functions'}, async page => {
    for (const [text, rows] of [['work(int)', ['work(int)']], ['Vec::operator->*(int) const', ['Vec::operator->*(int) const']], ['x[abi:cxx11]()', ['x[abi:cxx11]()']],
      ['work', ['work(int)', 'work']], ['^work|^Vec', ['work(int)', 'Vec::operator->*(int) const', 'work']], ['WORK(int)', []]]) {
      await page.fill('#search', text);
      await settled(page);
      assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('.table-body .name')].map(name => name.title)), rows, text);
    }
  });
});

test('a search is of what is zoomed to, wherever that begins', () => withPage({payload: smallPage()}, async page => {
  await page.fill('#search', 'lex');
  for (const [node, told, begins] of [[kMain, '13.33 % matched', 0], [kEmit, 'no match', 0], [kParse, '33.33 % matched', 800]]) {
    await page.evaluate(at => { location.hash = `#at=${at}&q=lex`; }, node);
    await page.waitForFunction(at => document.querySelector('.flame canvas').flame.zoomed === at, node);
    await settled(page);
    assert.equal(await found(page), told);
    const range = await flame(page, 'flame.range');
    assert.deepEqual([range[0], range[1]], [begins, begins + [0, 1500, 800, 600][node]]);
  }
}));

test('trees, widths and colours can be chosen', () => withPage({payload: smallPage()}, async page => {
  await page.selectOption('[data-choice=Threads]', '2');
  await settled(page);
  assert.deepEqual(await flame(page, '[flame.look.tree.title, flame.look.width[0]]'), ['thread 2', 500]);
  await page.selectOption('[data-choice=Threads]', '0');
  await page.selectOption('[data-choice=Width]', 'calls');
  await settled(page);
  assert.deepEqual(await flame(page, '[flame.look.width[0], flame.range]'), [6, [0, 6]]);
  await page.selectOption('[data-choice=Width]', 'total');
  const seen = new Set();
  for (const by of ['function', 'module', 'file', 'self']) {
    await page.selectOption('[data-choice=Colour]', by);
    await settled(page);
    seen.add(await flame(page, `[1, 2, 3, 4].map(flame.look.colour).join()`));
  }
  assert.equal(seen.size, 4);
}));

test('light, dark, and a system that changes its mind', async () => {
  const pixel = page => flame(page, '[...flame.context.getImageData(5, flame.canvas.height - 5, 1, 1).data].slice(0, 3).join()');
  const [light, dark] = ['251,251,252', '22,24,28'];
  await withPage({payload: smallPage(), scheme: 'dark'}, async page => {
    assert.equal(await pixel(page), dark);
    await picture(page, 'dark');
    await page.emulateMedia({colorScheme: 'light'});
    await settled(page);
    assert.equal(await pixel(page), light);
    await press(page, 't');
    assert.equal(await page.getAttribute('[aria-label^=Theme]', 'aria-label'), 'Theme: light');
    await press(page, 't');
    assert.equal(await pixel(page), dark, 'the choice is stronger than the system');
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(22, 24, 28)');
    await page.reload();
    await page.waitForSelector('.flame');
    await settled(page);
    assert.equal(await pixel(page), dark, 'and is kept');
  });
});

test('screen readers are told a tree', () => withPage({payload: smallPage()}, async page => {
  await press(page, 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowRight');
  const told = await page.evaluate(() => {
    const tree = document.activeElement;
    const item = document.getElementById(tree.getAttribute('aria-activedescendant'));
    return {role: tree.getAttribute('role'), name: tree.getAttribute('aria-label'), item: item.getAttribute('role'), text: item.textContent,
            level: item.getAttribute('aria-level'), place: [item.getAttribute('aria-posinset'), item.getAttribute('aria-setsize')], expanded: item.getAttribute('aria-expanded')};
  });
  assert.deepEqual(told, {role: 'tree', name: 'Flame graph', item: 'treeitem', text: 'parse: total 600 ns, 40.00 % of all; self 400 ns, 26.67 % of all; calls 1',
    level: '3', place: ['2', '2'], expanded: 'true'});
  const unnamed = await page.evaluate(() => [...document.querySelectorAll('button, input, select, [role=tab]')].filter(e =>
    !(e.innerText?.trim() || e.getAttribute('aria-label') || e.closest('label')?.innerText.trim())).length);
  assert.equal(unnamed, 0);
  assert.equal(await page.getAttribute('[role=tab][aria-selected=true]', 'aria-controls'), 'panel');
}));

// 316 functions that each call 316 others: 100,172 boxes.
function wide() {
  const calls = [];
  for (let i = 0; i < 316; i++) calls.push([`f${i}`, 1, Array.from({length: 316}, (_, k) => [`g${k}`, 1 + (k % 7)])]);
  return callsPage(new CallsBuilder().tree('all', calls).data());
}

test('a hundred thousand boxes stay fluid: few of them are looked at, and none twice a frame', () => withPage({payload: wide()}, async page => {
  assert.equal(await flame(page, 'flame.look.tree.size'), 1 + 316 + 316 * 316);
  assert.ok(await flame(page, 'flame.drawn') > 316);
  assert.ok(await flame(page, 'flame.visited') < 3000, `${await flame(page, 'flame.visited')} nodes for a drawing`);
  const work = await page.evaluate(async () => {
    const flame = document.querySelector('.flame canvas').flame;
    const frames = flame.frames;
    let shown = 0;
    let most = 0;
    const box = flame.canvas.getBoundingClientRect();
    for (let i = 0; i < 40; i++) {  // several events a frame, as a mouse gives them
      for (let k = 0; k < 5; k++) {
        flame.canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: i < 20 ? -40 : 40, clientX: box.left + 200, clientY: box.top + 30, cancelable: true, bubbles: true}));
        flame.canvas.dispatchEvent(new PointerEvent('pointermove', {pointerType: 'mouse', clientX: box.left + 200 + i, clientY: box.top + 30, bubbles: true}));
      }
      await new Promise(done => requestAnimationFrame(done));
      shown++;
      most = Math.max(most, flame.drawn);
    }
    return {drawings: flame.frames - frames, shown, most};
  });
  assert.ok(work.drawings <= work.shown + 2, `${work.drawings} drawings in ${work.shown} frames`);
  assert.ok(work.most < 5000, `${work.most} boxes in a drawing`);
  await page.fill('#search', 'g10');
  await clickBox(page, 1);
  assert.ok(await flame(page, 'flame.drawn') > 300);
  await page.click('text=Functions');
  await page.waitForSelector('.table-body .table-row');
}));

test('a violation of the policy would be noticed', () => withPage({payload: smallPage(), expected: ['policy: ', 'console: ']}, async page => {
  await page.evaluate(() => {
    const script = document.createElement('script');
    try { script.textContent = 'window.pwned = 1'; } catch { /* trusted types */ }
    document.body.append(script);
    document.body.insertAdjacentElement('beforeend', Object.assign(document.createElement('img'), {src: 'data:image/png;base64,AA'}));
  });
  assert.equal(await page.evaluate(() => window.pwned), undefined);
}));

test('a tree of nothing', () => withPage({payload: callsPage({...smallCalls(), trees: [new CallsBuilder().tree('all threads', []).data().trees[0]]})}, async page => {
  assert.deepEqual(await numbersOf(page), {total: '0 ns 0 % of all', self: '0 ns 0 % of all', calls: '0'});
  await press(page, 'ArrowDown', 'ArrowDown', 'Enter', 'Home');
  await press(page, '2', '3');
  assert.match(await textOf(page, '#panel'), /no function/);
}));
