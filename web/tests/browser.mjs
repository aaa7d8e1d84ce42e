// Chromium for the tests of the page kit. Console errors, exceptions, violations of the content security policy,
// dialogs and requests fail a test.
//
// Environment: TELLTALE_WEB_MODULES (node_modules with the development packages), TELLTALE_PAGE (the bundle with
// @DATA@),
// TELLTALE_CHROMIUM; TELLTALE_PICTURES names a folder for pictures to look at, if one wants them.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const modules = path.resolve(process.env.TELLTALE_WEB_MODULES);
const require = createRequire(path.join(modules, 'x.js'));
const {chromium} = require('playwright-core');
export const esbuild = require('esbuild');
const template = process.env.TELLTALE_PAGE && fs.readFileSync(process.env.TELLTALE_PAGE, 'utf8');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'telltale-page-'));
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];
let browser = null;
let pages = 0;

// Call at the end: node:test's after(closeBrowser).
export async function closeBrowser() {
  await browser?.close();
  fs.rmSync(folder, {recursive: true, force: true});
}

// JSON for a script element, as src/output/escape.h writes it.
const forScript = payload => JSON.stringify(payload).replace(/[<>&\u2028\u2029]/g, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

export function fileOf(payload) {
  const [before, after] = template.split('@DATA@');
  const file = path.join(folder, `${++pages}.html`);
  fs.writeFileSync(file, before + forScript(payload) + after);
  return file;
}

export const kDesktop = {width: 1200, height: 800};
export const kPhone = {width: 390, height: 844};

// Opens a payload, or an HTML file, and calls steps(page). `expected` are parts of problems that must occur.
export async function withPage({payload, file, hash = '', size = kDesktop, scheme = 'light', expected = []}, steps) {
  browser ??= await chromium.launch({executablePath: process.env.TELLTALE_CHROMIUM, args: flags});
  const phone = size.width < 600;
  const context = await browser.newContext({viewport: size, colorScheme: scheme, reducedMotion: 'reduce', hasTouch: phone, isMobile: phone,
    deviceScaleFactor: phone ? 2 : 1, permissions: ['clipboard-read', 'clipboard-write']});
  const problems = [];
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(120000);  // for a page that hangs; large ones take long beside other work
    const address = pathToFileURL(file ?? fileOf(payload)).href;
    // Ignores the browser's advice about reading pixels back.
    const isOurs = text => text.startsWith('Canvas2D: Multiple readback');
    page.on('console', message => { if (['error', 'warning'].includes(message.type()) && !isOurs(message.text())) problems.push(`console: ${message.text()}`); });
    page.on('pageerror', error => problems.push(`uncaught: ${error.message}`));
    page.on('dialog', dialog => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on('request', request => { if (request.url().split('#')[0] !== address) problems.push(`request: ${request.url().slice(0, 200)}`); });
    await page.addInitScript(() => {
      addEventListener('securitypolicyviolation', event => console.error(`policy: ${event.violatedDirective}`));
    });
    await page.goto(address + hash);
    await page.waitForSelector('header, .empty');
    await settled(page);
    await steps(page);
  } finally {
    await context.close();
  }
  const left = problems.filter(problem => !expected.some(part => problem.includes(part)));
  assert.deepEqual(left, []);
  for (const part of expected) assert.ok(problems.some(problem => problem.includes(part)), `no problem told of ${part}`);
}

// What a page costs: what the test asserts on (elements, boxes, memory in bytes), and the time to its first paint, which it prints only.
export async function costOf(page) {
  const shown = await page.evaluate(() => ({
    elements: document.querySelectorAll('*').length,
    text: document.body.innerText.length,
    flames: [...document.querySelectorAll('.flame canvas')].map(({flame}) => ({drawn: flame.drawn, visited: flame.visited})),
    firstPaintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null,
  }));
  const client = await page.context().newCDPSession(page);
  const {usedSize} = await client.send('Runtime.getHeapUsage');
  const ofBrowser = await browser.newBrowserCDPSession();
  const {processInfo} = await ofBrowser.send('SystemInfo.getProcessInfo');
  const peak = ({id}) => Number(/VmHWM:\s*(\d+) kB/.exec(fs.readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  return {...shown, heap: usedSize, tab: Math.max(...processInfo.filter(({type}) => type === 'renderer').map(peak))};
}

// Waits two animation frames, so that changes are drawn.
export const settled = page => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done()))));

export const picture = async (page, name) => {
  if (process.env.TELLTALE_PICTURES) await page.screenshot({path: path.join(process.env.TELLTALE_PICTURES, `${name}.png`)});
};

// The flame graph number `index` of the page; see web/src/kit/flame_view.ts.
export const flame = (page, expression, index = 0) =>
  page.evaluate(`(() => { const flame = document.querySelectorAll('.flame canvas')[${index}].flame; return ${expression}; })()`);
export const placeOf = (page, node, index = 0) => flame(page, `flame.placeOf(${node})`, index);
export const hashOf = page => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
export const textOf = (page, selector) => page.evaluate(s => document.querySelector(s)?.innerText ?? null, selector);
export const textsOf = (page, selector) => page.evaluate(s => [...document.querySelectorAll(s)].map(e => e.innerText), selector);
export async function press(page, ...keys) {
  for (const key of keys) {
    await page.keyboard.press(key);
    await settled(page);
  }
}
export async function clickBox(page, node, index = 0) {
  await page.mouse.click(...await placeOf(page, node, index));
  await settled(page);
}
// The text of the details: {total: '600 ns ...'}.
export const numbersOf = page => page.evaluate(() =>
  Object.fromEntries([...document.querySelectorAll('.details .numbers > div')].map(row => [row.querySelector('dt').innerText, row.querySelector('dd').innerText.replace(/\s+/g, ' ').trim()])));
