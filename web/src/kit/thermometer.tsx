// One predicate's runs as a bar: the width grows with the logarithm of the runs in which it was true; the parts are
// context, the
// lower bound of increase, the rest of failure, and the runs that passed. Numbers are printed next to it: nothing
// depends on colour alone.

import {showShare} from '../text/units';

export interface Meter {
  context: number;   // 0 to 1
  low: number;       // lower bound of increase
  failure: number;
  runs: number;      // in which it was true
  most: number;      // runs of the widest bar
}

export function Thermometer({context, low, failure, runs, most}: Meter) {
  const sure = Math.max(0, Math.min(low, failure - context));
  const parts: [string, number][] = [['context', Math.min(context, failure)], ['sure', sure], ['unsure', Math.max(0, failure - Math.min(context, failure) - sure)], ['passed', 1 - failure]];
  const width = most > 0 ? 100 * Math.log10(1 + runs) / Math.log10(1 + most) : 0;
  const told = `context ${showShare(context, 1)}, increase at least ${showShare(Math.max(0, low), 1)}, failure ${showShare(failure, 1)}, ${runs} runs`;
  return <span class="thermometer" role="img" aria-label={told} title={told}>
    <span style={{width: `${width}%`}}>{parts.map(([name, share]) => share > 0 && <i key={name} class={name} style={{width: `${100 * share}%`}} />)}</span>
  </span>;
}
