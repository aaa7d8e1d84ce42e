// The frame of every page: title, search, tabs, theme, keys.

import {useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import type {Payload, TabSpec} from '../payload';
import {showCount} from '../text/units';
import {FactsTab} from '../tabs/plain_tabs';
import {kTabKinds} from '../tabs/kinds';
import {AddressContext, useAddressFromHash, type Address, type Changes} from './address';
import {onCopied} from './copy';
import {Help} from './help';
import {setShellKeys} from './keys';
import {patternOf, SearchContext} from './search';
import {nextTheme, theme, type Theme} from './theme';

const kRecording = 'recording';
const kThemeSigns: Record<Theme, string> = {auto: '\u25d0', light: '\u2600', dark: '\u263e'};

function ThemeButton() {
  const [now, setNow] = useState(theme());
  return <button type="button" class="icon" aria-label={`Theme: ${now}`} title={`Theme: ${now}`} onClick={() => setNow(nextTheme())}>{kThemeSigns[now]}</button>;
}

function Summary({payload}: {payload: Payload}) {
  const shown = payload.facts.filter(([name]) => payload.summary.includes(name));
  return <p class="summary">{shown.map(([name, value], i) => <span key={i} class={/\blosses$/.test(name) ? 'loss' : ''}>{i > 0 && ' \u00b7 '}{name} {/^\d+$/.test(value) ? showCount(Number(value)) : value}</span>)}</p>;
}

function SearchField({address, told, invalid}: {address: Address; told: string; invalid: boolean}) {
  const field = useRef<HTMLInputElement>(null);
  return <label class="search"><span class="unseen">Search</span>
    <input id="search" ref={field} type="search" value={address.get('q')} placeholder="Search (regular expression)" spellcheck={false} autocomplete="off" aria-invalid={invalid} aria-describedby="found"
      onInput={event => address.go({q: event.currentTarget.value}, true)}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          address.go({q: null}, true);
          event.currentTarget.blur();
          document.querySelector<HTMLElement>('.flame, .table, .source')?.focus({preventScroll: true});
        } else if (event.key === 'Enter') {
          dispatchEvent(new KeyboardEvent('keydown', {key: event.shiftKey ? 'N' : 'n'}));
        } else {
          return;
        }
        event.preventDefault();
      }} />
    <output id="found" for="search">{invalid ? 'not a regular expression' : told}</output></label>;
}

function Tabs({tabs, shown, onShow}: {tabs: TabSpec[]; shown: string; onShow: (id: string) => void}) {
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const next = tabs[(tabs.findIndex(tab => tab.id === shown) + step + tabs.length) % tabs.length];
    onShow(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
    event.preventDefault();
  };
  return <div class="tabs" role="tablist" onKeyDown={onKeyDown}>{tabs.map(tab =>
    <button type="button" role="tab" key={tab.id} id={`tab-${tab.id}`} aria-selected={tab.id === shown} aria-controls="panel" tabIndex={tab.id === shown ? 0 : -1}
      onClick={() => onShow(tab.id)}>{tab.title}</button>)}</div>;
}

function Toast() {
  const [text, setText] = useState('');
  useEffect(() => {
    let timer = 0;
    onCopied(told => {
      setText(told);
      clearTimeout(timer);
      timer = window.setTimeout(() => setText(''), 2500);
    });
  }, []);
  return <div class="toast" role="status" hidden={text === ''}>{text}</div>;
}

export function Shell({payload}: {payload: Payload}) {
  const address = useAddressFromHash();
  const [told, setTold] = useState('');
  const [help, setHelp] = useState(false);
  const tabs = useMemo(() => [...payload.tabs, {id: kRecording, kind: kRecording, title: 'Recording', data: ''}], [payload]);
  const shown = tabs.find(tab => tab.id === address.get('tab')) ?? tabs[0];
  const text = address.get('q');
  const pattern = useMemo(() => (text === '' ? null : patternOf(text)), [text]);
  const search = useMemo(() => ({text, pattern, found: setTold}), [text, pattern]);
  const show = (id: string): void => address.go({tab: id === tabs[0].id ? null : id});
  // By its key: the keys of its main part work at once.
  const go = (id: string): void => {
    show(id);
    setTimeout(() => document.querySelector<HTMLElement>('.flame, .table, .source')?.focus({preventScroll: true}));
  };
  const openTab = (kind: string, changes: Changes): void => {
    const tab = tabs.find(tab => tab.kind === kind && tab.data === shown.data);
    if (tab) address.go({...changes, tab: tab.id === tabs[0].id ? null : tab.id});
  };
  setShellKeys({'/': () => document.getElementById('search')!.focus(), '?': () => setHelp(!help), t: () => document.querySelector<HTMLElement>('[aria-label^="Theme"]')!.click(),
                ...Object.fromEntries(tabs.map((tab, i) => [String(i + 1), () => go(tab.id)]))});
  // Before the tab's own effects, which say what it found.
  useLayoutEffect(() => setTold(''), [shown.id]);
  useEffect(() => { document.title = payload.title; }, [payload]);
  const Kind = Object.hasOwn(kTabKinds, shown.kind) ? kTabKinds[shown.kind] : null;
  return <AddressContext.Provider value={address}><SearchContext.Provider value={search}>
    <header>
      <div class="top"><h1 title={payload.title}>{payload.title}</h1><Summary payload={payload} />
        <SearchField address={address} told={told} invalid={text !== '' && pattern === null} />
        <ThemeButton /><button type="button" class="icon" aria-label="Keys" title="Keys (?)" aria-expanded={help} onClick={() => setHelp(!help)}>?</button></div>
      <Tabs tabs={tabs} shown={shown.id} onShow={show} />
    </header>
    <main><div id="panel" role="tabpanel" aria-labelledby={`tab-${shown.id}`}>
      {shown.kind === kRecording ? <FactsTab facts={payload.facts} />
        : Kind === null ? <p class="empty">This page cannot show a tab of kind {shown.kind}.</p>
        : <Kind key={shown.id} spec={shown} data={payload.data[shown.data]} openTab={openTab} />}
    </div></main>
    {help && <Help onClose={() => setHelp(false)} />}
    <Toast />
  </SearchContext.Provider></AddressContext.Provider>;
}
