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

// Finds what `text` describes as a regular expression, and `text` itself: a copied name such as f(int) is found. A
// capital letter makes the search case-sensitive. Null if `text` is not a regular expression.
export function patternOf(text: string): RegExp | null {
  const flags = /[A-Z]/.test(text) ? 'u' : 'iu';
  try {
    const {source} = new RegExp(text, flags);  // throws before an unmatched bracket could close the group below
    return new RegExp(`(?:${source})|${text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}`, flags);
  } catch {
    return null;
  }
}

export function useFound(told: string): void {
  const {found, text} = useSearch();
  useEffect(() => found(told), [told, text]);
}
