// Keys of the page: those of the shell and of the visible tab. A focused component takes precedence.

import {useEffect, useRef} from 'preact/hooks';

export type Keys = Record<string, () => void>;

let ofShell: Keys = {};
let ofTab: Keys = {};

// Registers keys of a tab while it is visible.
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    ofTab = Object.fromEntries(Object.keys(keys).map(key => [key, () => latest.current[key]()]));
    return () => { ofTab = {}; };
  }, []);
}
export function setShellKeys(keys: Keys): void { ofShell = keys; }

export const isField = (target: EventTarget | null): boolean => target instanceof Element && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);

addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isField(event.target) || document.querySelector('dialog[open]')) return;
  const key = Object.hasOwn(ofTab, event.key) ? ofTab[event.key] : Object.hasOwn(ofShell, event.key) ? ofShell[event.key] : null;
  if (key === null) return;
  key();
  event.preventDefault();
});
