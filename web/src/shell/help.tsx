// The keys of all tabs.

import {useEffect, useRef} from 'preact/hooks';

const kKeys: [group: string, keys: [string, string][]][] = [
  ['Everywhere', [['/', 'search'], ['1 2 3 \u2026', 'tabs'], ['t', 'theme: auto, light, dark'], ['?', 'this help'], ['Esc', 'close, clear, deselect']]],
  ['Flame graph', [['click, tap, Enter', 'zoom to a box'], ['wheel, pinch, + \u2212', 'zoom'], ['drag', 'move'], ['Shift wheel', 'scroll rows'], ['arrows', 'select a box'],
    ['Backspace', 'zoom out to the caller'], ['Home', 'everything'], ['n N', 'next, previous match'], ['i', 'turn over'], ['s', 'callers and callees'], ['c C', 'copy name, stack']]],
  ['Paths', [['\u2192 \u2190', 'next, previous step'], [', .', 'previous, next path'], ['Home, End', 'first, last step'], ['u d', 'caller, callee on the stack'], ['s', 'slice: lines that may have made it stop']]],
  ['Order', [['\u2193 \u2191', 'next, previous call'], ['. ,', 'next, previous difference'], ['Home, End', 'first, last call']]],
  ['Tables', [['arrows, Page, Home, End', 'select a row'], ['Enter', 'callers and callees'], ['click on a head', 'sort']]],
];

export function Help({onClose}: {onClose: () => void}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = dialog.current!;
    shown.showModal();
    return () => shown.close();
  }, []);
  return <dialog ref={dialog} aria-label="Keys" onClose={onClose} onClick={event => { if (event.target === dialog.current) onClose(); }}>
    <div class="help">{kKeys.map(([group, keys]) => <section key={group}><h2>{group}</h2>
      <dl>{keys.map(([key, does]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{does}</dd></div>)}</dl></section>)}</div>
    <button type="button" onClick={onClose}>Close</button>
  </dialog>;
}
