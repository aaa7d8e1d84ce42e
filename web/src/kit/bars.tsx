// Values as bars, the longest of them as wide as the list.

export interface Bar {
  label: string;
  value: number;   // at least 0
  text: string;    // the value for people
  full?: string;   // the label in full, if it was shortened
  onPick?: () => void;
}

export function Bars({bars, name}: {bars: Bar[]; name: string}) {
  const longest = bars.reduce((most, bar) => Math.max(most, bar.value), 0);
  return <ol class="bars" aria-label={name}>{bars.map((bar, i) => <li key={i}>
    <span class="bar" style={{width: `${longest > 0 ? 100 * bar.value / longest : 0}%`}} />
    {bar.onPick ? <button type="button" class="link name" title={bar.full ?? bar.label} onClick={bar.onPick}>{bar.label}</button>
      : <span class="name" title={bar.full ?? bar.label}>{bar.label}</span>}
    <span class="value">{bar.text}</span>
  </li>)}</ol>;
}
