// Drives a page written by telltale and reports its behaviour; tests/end_to_end/test_flame_page.py uses it:
//   node drive_page.mjs < JOB
// JOB: {page, scheme, steps: [[name, ...arguments]...]}. Prints {answers: [one a step]}; ends with an error if the page
// did anything but show itself (browser.mjs).
import fs from 'node:fs';
import {closeBrowser, costOf, flame, placeOf, settled, withPage} from './browser.mjs';

const steps = {
  eval: (page, expression) => page.evaluate(expression),
  flame: (page, expression) => flame(page, expression),
  click: (page, selector) => page.click(selector),
  fill: (page, selector, text) => page.fill(selector, text),
  press: (page, key) => page.keyboard.press(key),
  hover: async (page, node) => page.mouse.move(...await placeOf(page, node)),
  point: async (page, node) => page.mouse.click(...await placeOf(page, node)),
  cost: page => costOf(page),
  picture: (page, file) => page.screenshot({path: file}).then(() => true),
};

const job = JSON.parse(fs.readFileSync(0, 'utf8'));
const answers = [];
await withPage({file: job.page, scheme: job.scheme}, async page => {
  for (const [name, ...rest] of job.steps) {
    answers.push(await steps[name](page, ...rest) ?? null);
    await settled(page);
  }
});
await closeBrowser();
process.stdout.write(JSON.stringify({answers}));
