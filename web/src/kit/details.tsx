// Details of the selected item: numbers first, so that no long name can push them out of sight.

import {useState} from 'preact/hooks';
import type {ComponentChildren} from 'preact';

export interface Fact {
  name: string;
  value: string;
  note?: string;
}
export interface Action {
  title: string;
  key?: string;
  run: () => void;
}

export function Details({title, numbers, facts, actions, children}:
{title: string; numbers: Fact[]; facts: Fact[]; actions: Action[]; children?: ComponentChildren}) {
  const [open, setOpen] = useState(false);
  return <aside class={`details ${open ? 'open' : ''}`} aria-label="Details">
    <div class="details-head">
      <h2 class="name" title={title}>{title}</h2>
      <button type="button" class="more" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'Less' : 'More'}</button>
    </div>
    <dl class="numbers">{numbers.map(fact => <div key={fact.name}><dt>{fact.name}</dt><dd>{fact.value}{fact.note && <small> {fact.note}</small>}</dd></div>)}</dl>
    <div class="rest">
      {actions.length > 0 && <div class="actions">{actions.map(action =>
        <button type="button" key={action.title} onClick={action.run} title={action.key && `Key: ${action.key}`}>{action.title}</button>)}</div>}
      <dl class="facts">{facts.map(fact => <div key={fact.name}><dt>{fact.name}</dt><dd>{fact.value}</dd></div>)}</dl>
      {children}
    </div>
  </aside>;
}
