// The same name has the same colour, in every page. Text on a colour has a contrast of at least 4.5 to 1.

const darkQuery = matchMedia('(prefers-color-scheme: dark)');

function hashOf(text) {  // FNV-1a, 32 bit, over UTF-16 code units
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

class Colours {
  constructor() {
    this.keys = {function: 0, file: 1, module: 3};
    this.cache = {};
  }

  theme() {
    return darkQuery.matches
      ? {page: '#16181c', text: '#f2f3f5', root: '#3a4049', edge: '#16181c', match: '#b4238c', dim: '#2b2f36', mark: '#ffffff', dimText: '#aab1bb'}
      : {page: '#fbfbfc', text: '#15181c', root: '#dfe3e8', edge: '#fbfbfc', match: '#f2a4e0', dim: '#e6e8ec', mark: '#000000', dimText: '#4a515b'};
  }

  ofHash(hash, spread) {
    const hue = hash % 360;
    const saturation = 48 + (hash >>> 9) % 18;
    const step = (hash >>> 14) % spread;
    return darkQuery.matches ? `hsl(${hue},${saturation - 12}%,${25 + step}%)` : `hsl(${hue},${saturation}%,${72 + step}%)`;
  }

  // One colour a function; by self time it is the node that counts.
  ofFunction(fn, by) {
    const cache = this.cache[by] || (this.cache[by] = []);
    if (cache[fn]) return cache[fn];
    const info = data.functions[fn];
    if (by === 'function') return cache[fn] = this.ofHash(hashOf(info[0]), 9);
    const group = info[this.keys[by]] || '?';  // one hue a group, a shade a function
    const shade = hashOf(info[0]) % 9;
    const hash = hashOf(group);
    return cache[fn] = this.ofHash((hash & 0x3fff) | (shade << 14), 9);
  }

  ofSelf(share) {
    const hot = Math.min(1, share);
    return darkQuery.matches ? `hsl(${40 - 36 * hot},${20 + 45 * hot}%,${24 + 8 * hot}%)`
                             : `hsl(${48 - 36 * hot},${35 + 55 * hot}%,${88 - 16 * hot}%)`;
  }

  forget() { this.cache = {}; }
}
const colours = new Colours();
