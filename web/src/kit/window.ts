// Selects the visible rows of equal height, and a few more on either side.

import type {RefObject} from 'preact';
import {useLayoutEffect, useState} from 'preact/hooks';

const kMore = 6;

export function useWindow(scroller: RefObject<HTMLElement | null>, rowHeight: number, rows: number): [first: number, last: number] {
  const [[first, last], setWindow] = useState([0, 40]);
  useLayoutEffect(() => {
    const box = scroller.current!;
    const look = (): void => {
      const from = Math.max(0, Math.floor(box.scrollTop / rowHeight) - kMore);
      const to = Math.ceil((box.scrollTop + box.clientHeight) / rowHeight) + kMore;
      setWindow(now => (now[0] === from && now[1] === to ? now : [from, to]));
    };
    look();
    box.addEventListener('scroll', look);
    const size = new ResizeObserver(look);
    size.observe(box);
    return () => {
      box.removeEventListener('scroll', look);
      size.disconnect();
    };
  }, [rowHeight, rows]);
  return [Math.min(first, rows), Math.min(last, rows)];
}
