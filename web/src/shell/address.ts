// The state of a page is in the URL fragment, so that Back and copied links work. Values are untrusted: readers must
// validate them.

import {createContext} from 'preact';
import {useContext, useEffect, useState} from 'preact/hooks';

export type Changes = Record<string, string | number | null>;

export interface Address {
  get(key: string): string;                       // '' if it is not there
  number(key: string, limit: number, otherwise: number): number;  // a whole number in [0, limit)
  // Null removes a key. `quietly` replaces the current history entry instead of adding one.
  go(changes: Changes, quietly?: boolean): void;
}

export const AddressContext = createContext<Address>(null as unknown as Address);
export const useAddress = (): Address => useContext(AddressContext);

const read = (): URLSearchParams => new URLSearchParams(location.hash.slice(1));

export function useAddressFromHash(): Address {
  const [state, setState] = useState(read);
  useEffect(() => {
    const follow = (): void => setState(read());
    addEventListener('popstate', follow);
    addEventListener('hashchange', follow);
    return () => {
      removeEventListener('popstate', follow);
      removeEventListener('hashchange', follow);
    };
  }, []);
  return {
    get: key => state.get(key) ?? '',
    number: (key, limit, otherwise) => {
      const text = state.get(key) ?? '';
      const value = /^\d{1,9}$/.test(text) ? Number(text) : otherwise;
      return value < limit ? value : otherwise;
    },
    go: (changes, quietly = false) => {
      const next = read();
      for (const [key, value] of Object.entries(changes)) {
        if (value === null || value === '') next.delete(key);
        else next.set(key, String(value));
      }
      const hash = `#${next.toString()}`;
      if (hash === (location.hash || '#')) return;
      if (quietly) history.replaceState(null, '', hash);
      else history.pushState(null, '', hash);
      setState(next);
    },
  };
}
