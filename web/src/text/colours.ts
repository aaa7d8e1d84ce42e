// Colours of boxes. The same name has the same colour in every page. Text on any of them has a contrast of at least
// 4.5 to 1.

import {isDark} from '../shell/theme';

export interface Palette {
  page: string;
  text: string;
  root: string;
  match: string;
  dim: string;
  dimText: string;
  mark: string;  // the outline of what is selected
}

const kLight: Palette = {page: '#fbfbfc', text: '#15181c', root: '#dfe3e8', match: '#f2a4e0', dim: '#e6e8ec', dimText: '#4a515b', mark: '#000000'};
const kDark: Palette = {page: '#16181c', text: '#f2f3f5', root: '#3a4049', match: '#b4238c', dim: '#2b2f36', dimText: '#aab1bb', mark: '#ffffff'};
export const palette = (): Palette => (isDark() ? kDark : kLight);

export function hashOf(text: string): number {  // FNV-1a, 32 bit, over UTF-16 code units
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

// One hue per group, one shade per name.
export function ofName(name: string, group: string): string {
  const hash = hashOf(group);
  const hue = hash % 360;
  const saturation = 48 + (hash >>> 9) % 18;
  const step = (group === name ? hash >>> 14 : hashOf(name)) % 9;
  return isDark() ? `hsl(${hue},${saturation - 12}%,${25 + step}%)` : `hsl(${hue},${saturation}%,${72 + step}%)`;
}

// Heat colour of a share from 0 to 1.
export function ofShare(share: number): string {
  const hot = Math.min(1, Math.sqrt(share) * 1.6);
  return isDark() ? `hsl(${40 - 36 * hot},${20 + 45 * hot}%,${24 + 8 * hot}%)` : `hsl(${48 - 36 * hot},${35 + 55 * hot}%,${88 - 16 * hot}%)`;
}

// Red grew, blue shrank; `change` from -1 (gone) to 1 (new).
export function ofChange(change: number): string {
  const size = Math.sqrt(Math.min(1, Math.abs(change)));
  if (size < 0.05) return isDark() ? 'hsl(220,6%,27%)' : 'hsl(220,10%,90%)';
  const hue = change > 0 ? 6 : 214;
  return isDark() ? `hsl(${hue},${20 + 50 * size}%,${26 + 8 * size}%)` : `hsl(${hue},${45 + 40 * size}%,${91 - 20 * size}%)`;
}

// How much `after` differs from `before`, from -1 (gone) to 1 (new).
export function changeOf(before: number, after: number): number {
  const larger = Math.max(before, after);
  return larger > 0 ? (after - before) / larger : 0;
}
