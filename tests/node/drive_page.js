// Drives a page in Chromium and reports what it did:
//   node drive_page.js NODE_MODULES CHROMIUM < JOB
// JOB: {page, scheme, steps: [[name, ...arguments]...]}. Prints {answers: [one a step], problems: [text...]}: problems
// are console errors, uncaught exceptions, violations of the page's content security policy, dialogs, and requests.
'use strict';
const fs = require('fs');
const path = require('path');
const {pathToFileURL} = require('url');

const [, , modules, chromium] = process.argv;
const playwright = require(path.join(modules, 'playwright-core'));
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

const steps = {
  eval: (page, expression) => page.evaluate(expression),
  until: (page, expression) => page.waitForFunction(expression).then(() => true),
  click: (page, selector) => page.click(selector),
  fill: (page, selector, text) => page.fill(selector, text),
  select: (page, selector, value) => page.selectOption(selector, value),
  press: (page, key) => page.keyboard.press(key),
  hover: async (page, node) => page.mouse.move(...await page.evaluate(`view.placeOf(${node})`)),
  point: async (page, node) => page.mouse.click(...await page.evaluate(`view.placeOf(${node})`)),
  scheme: (page, colorScheme) => page.emulateMedia({colorScheme}),
  picture: (page, file) => page.screenshot({path: file}).then(() => true),
};

async function main() {
  const job = JSON.parse(fs.readFileSync(0, 'utf8'));
  const browser = await playwright.chromium.launch({executablePath: chromium, args: flags});
  const problems = [];
  const answers = [];
  try {
    const page = await browser.newPage({colorScheme: job.scheme || 'light', reducedMotion: 'reduce', viewport: {width: 1200, height: 800}});
    page.setDefaultTimeout(20000);
    const address = pathToFileURL(job.page).href;
    page.on('console', message => { if (['error', 'warning'].includes(message.type())) problems.push('console: ' + message.text()); });
    page.on('pageerror', error => problems.push('uncaught: ' + error.message));
    page.on('dialog', dialog => { problems.push('dialog: ' + dialog.message()); dialog.dismiss(); });
    page.on('request', request => { if (request.url() !== address) problems.push('request: ' + request.url().slice(0, 200)); });
    await page.addInitScript(() => {
      addEventListener('securitypolicyviolation', event => console.error('policy: ' + event.violatedDirective));
    });
    await page.goto(address);
    await page.waitForFunction("Number(document.getElementById('graph').dataset.drawn) > 0");
    for (const [name, ...rest] of job.steps) {
      const answer = await steps[name](page, ...rest);
      answers.push(answer === undefined ? null : answer);
    }
  } finally {
    await browser.close();
  }
  process.stdout.write(JSON.stringify({answers, problems}));
}

main().catch(error => {
  process.stderr.write(`drive_page: ${error.stack}\n`);
  process.exit(1);
});
