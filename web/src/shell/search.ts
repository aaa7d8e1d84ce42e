// The search field belongs to the shell; the visible tab implements the search.

import {createContext} from 'preact';
import {useContext, useEffect} from 'preact/hooks';

export interface Search {
  text: string;
  pattern: RegExp | null;     // null: nothing is searched for, or it is no regular expression
  found: (told: string) => void;  // what the field says beside itself
}
export const SearchContext = createContext<Search>({text: '', pattern: null, found: () => {}});
export const useSearch = (): Search => useContext(SearchContext);

// A capital letter makes the search case-sensitive. Null if `text` is not a regular expression.
export function patternOf(text: string): RegExp | null {
  try {
    return new RegExp(text, /[A-Z]/.test(text) ? 'u' : 'iu');
  } catch {
    return null;
  }
}

export function useFound(told: string): void {
  const {found, text} = useSearch();
  useEffect(() => found(told), [told, text]);
}
