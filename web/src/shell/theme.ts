// Light, dark, or the system's theme. The choice is stored for other pages if the browser allows it.

export type Theme = 'auto' | 'light' | 'dark';
const kKey = 'telltale-theme';
const kThemes: Theme[] = ['auto', 'light', 'dark'];
const systemDark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();
let current: Theme = 'auto';

try {
  const kept = localStorage.getItem(kKey) as Theme;
  if (kThemes.includes(kept)) current = kept;
} catch { /* pages opened from files may have no storage */ }

function apply(): void {
  document.documentElement.dataset.theme = current;
  for (const listener of listeners) listener();
}

export const theme = (): Theme => current;
export const isDark = (): boolean => (current === 'auto' ? systemDark.matches : current === 'dark');

export function nextTheme(): Theme {
  current = kThemes[(kThemes.indexOf(current) + 1) % kThemes.length];
  try {
    localStorage.setItem(kKey, current);
  } catch { /* as above */ }
  apply();
  return current;
}

// Calls `listener` whenever colours change; returns a function that removes it.
export function onThemeChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

systemDark.addEventListener('change', apply);
apply();
