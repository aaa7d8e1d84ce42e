// Formats numbers. `suffix` is the unit at the end of payload keys: ns, bytes or count.

export interface Units {
  counted: string;   // what "calls" counts
  measured: string;  // what "total" and "self" measure
  suffix: string;
}

export function showTime(ns: number): string {
  const steps: [string, number][] = [['ns', 1], ['us', 1e3], ['ms', 1e6], ['s', 1e9]];
  let [name, size] = steps[0];
  for (const step of steps) if (Math.abs(ns) >= step[1] * 0.99995) [name, size] = step;
  const value = ns / size;
  return `${Math.abs(value) >= 9999.5 ? value.toFixed(0) : String(Number(value.toPrecision(4)))} ${name}`;
}

export function showBytes(bytes: number): string {
  const names = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  for (; unit + 1 < names.length && Math.abs(bytes) >= 1023.5; unit++) bytes /= 1024;
  return `${Math.abs(bytes) >= 999.95 ? bytes.toFixed(0) : Number(bytes.toPrecision(4))} ${names[unit]}`;
}

export const showCount = (count: number): string => count.toLocaleString('en-US');

export function showIn(suffix: string, value: number): string {
  if (suffix === 'ns') return showTime(value);
  return suffix === 'bytes' ? showBytes(value) : showCount(value);
}

export function showShare(part: number, whole: number): string {
  const percent = whole > 0 ? 100 * part / whole : 0;
  if (percent >= 99.995 || percent === 0) return `${percent.toFixed(0)} %`;
  return `${percent >= 0.01 ? percent.toFixed(2) : percent.toPrecision(2)} %`;
}

// The relative change from `before` to `after`: "+12.3 %", "\u00d7 20", "new", "gone".
export function showChange(before: number, after: number): string {
  if (before === after) return 'same';
  if (before === 0) return 'new';
  if (after === 0) return 'gone';
  if (after / before >= 10) return `\u00d7 ${showCount(Number((after / before).toPrecision(3)))}`;
  const percent = 100 * (after / before - 1);
  const digits = Math.abs(percent) >= 99.95 ? 0 : 1;
  return `${percent > 0 ? '+' : '\u2212'}${Math.abs(percent).toFixed(digits)} %`;
}

export const words = (key: string): string => key.replaceAll('_', ' ');
