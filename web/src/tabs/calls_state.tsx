// Settings shared by the tabs about calls: tree, width of boxes, meaning of colours. They are kept in the URL fragment.

import {useMemo} from 'preact/hooks';
import type {CallTree, Measure} from '../calls/call_tree';
import {modelOf, type CallsModel, type ColourBy} from '../calls/model';
import type {CallsData} from '../payload';
import {useAddress, type Address} from '../shell/address';
import {useSearch} from '../shell/search';
import {Check, Choice} from '../shell/toolbar';

export interface CallsState {
  address: Address;
  model: CallsModel;
  tree: CallTree;
  measure: Measure;
  side: 'now' | 'before';
  colour: ColourBy;
  normalised: boolean;
  matches: Uint8Array | null;  // a byte a function
}

// Keys of the fragment that are specific to one tree.
export const kPlaces = {at: null, box: null, view: null, 'callers-at': null, 'callers-box': null, 'callers-view': null, 'callees-at': null, 'callees-box': null, 'callees-view': null};

const oneOf = <T extends string>(text: string, known: readonly T[]): T => (known.includes(text as T) ? text as T : known[0]);

export function useCallsState(data: CallsData): CallsState {
  const address = useAddress();
  const {pattern} = useSearch();
  const model = modelOf(data);
  const tree = model.trees.at(address.number('tree', data.trees.length, 0));
  const colours: ColourBy[] = model.compared ? ['change', 'self-change', 'function', 'module', 'file'] : ['function', 'module', 'file', 'self'];
  const matches = useMemo(() => (pattern === null ? null : Uint8Array.from(model.names, name => (pattern.test(name) ? 1 : 0))), [model, pattern]);
  return {address, model, tree, matches, measure: oneOf(address.get('by'), ['total', 'calls'] as const), side: oneOf(address.get('side'), ['now', 'before'] as const),
          colour: oneOf(address.get('colour'), colours), normalised: address.get('shares') === '1'};
}

export function TreeChoice({state}: {state: CallsState}) {
  const {address, model} = state;
  if (model.data.trees.length < 2) return null;
  return <Choice label="Threads" value={address.get('tree') || '0'} options={model.data.trees.map((tree, i) => [String(i), tree.title])}
    onChange={tree => address.go({...kPlaces, tree: tree === '0' ? null : tree})} />;
}

export function WidthChoices({state}: {state: CallsState}) {
  const {address, model} = state;
  return <>
    <Choice label="Width" value={state.measure} options={[['total', model.measured], ['calls', model.counted]]}
      onChange={by => address.go({by: by === 'total' ? null : by, view: null, 'callers-view': null, 'callees-view': null})} />
    {model.compared && <Choice label="of" value={state.side} options={[['now', `B ${model.compared.after}`], ['before', `A ${model.compared.before}`]]}
      onChange={side => address.go({side: side === 'now' ? null : side, view: null, 'callers-view': null, 'callees-view': null})} />}
  </>;
}

export function NormalisedCheck({state}: {state: CallsState}) {
  if (!state.model.compared) return null;
  return <Check label="Normalised" checked={state.normalised} title="Compare shares of each recording's total instead of values"
    onChange={on => state.address.go({shares: on ? 1 : null})} />;
}

export function ColourChoices({state}: {state: CallsState}) {
  const {address, model} = state;
  const titles: [string, string][] = [['function', 'function'], ['module', 'module'], ['file', 'file']];
  const options: [string, string][] = model.compared ? [['change', 'change in total'], ['self-change', 'change in self'], ...titles] : [...titles, ['self', `self ${model.measured}`]];
  return <>
    <Choice label="Colour" value={state.colour} options={options} onChange={colour => address.go({colour: colour === options[0][0] ? null : colour})} />
    <NormalisedCheck state={state} />
    {model.compared && state.colour.endsWith('change') && <span class="legend"><i class="shrank" /> shrank <i class="grew" /> grew</span>}
  </>;
}
