// Shows the page's payload, or an error.

import {render} from 'preact';
import {parsePayload} from './payload';
import {Shell} from './shell/shell';

const root = document.getElementById('page')!;
try {
  render(<Shell payload={parsePayload(document.getElementById('data')!.textContent!)} />, root);
} catch (error) {
  root.textContent = error instanceof Error ? error.message : String(error);
  root.className = 'empty';
}
