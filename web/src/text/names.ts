// The useful part of a function's name: without return type and parameters, with long template arguments elided.
// Names are C++, Rust, Mono, Go or arbitrary text; unknown syntax is kept. Takes linear time.

const kLongestParsed = 16384;
const kKeptArguments = 14;  // characters of template arguments that stay
const kKeptDifference = 24;  // characters of what long names differ in that stay
const kKeptOverload = 60;   // characters of an overload's name that stay
const kOpen = '<([{';
const kClose = '>)]}';
const isWord = (c: string | undefined): boolean => c !== undefined && /[\p{L}\p{M}\p{N}_$~]/u.test(c);

const kOperator = /^operator(?:\s*(?:\(\)|\[\]|<=>|<<=|>>=|->\*|->|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%^&|~!=<>,]=?)|\s+(?:new|delete)(?:\[\])?|\s*""\s*\w+|\s+co_await)/;
const kPrefix = /^(?:non-virtual thunk to |virtual thunk to |vtable for |typeinfo (?:name )?for |guard variable for )/;
const kTypeWords = /^(?:auto|void|bool|char|char8_t|char16_t|char32_t|wchar_t|short|int|long|float|double|signed|unsigned|const|constexpr|static|virtual|inline|decltype.*|.*(?:::|[<*&]).*)$/;

// The position after the bracket that closes the one at `start`; -1 if there is none.
function groupEnd(text: string, start: number): number {
  const open: string[] = [];
  for (let i = start; i < text.length; i++) {
    const c = text[i];
    const kind = kOpen.indexOf(c);
    if (kind >= 0) {
      if (c === '<' && open.length > 0 && open[open.length - 1] !== '>' && !isWord(text[i - 1])) continue;  // a comparison
      open.push(kClose[kind]);
    } else if (kClose.includes(c)) {
      if (c === '>' && (text[i - 1] === '-' || open[open.length - 1] !== '>')) continue;  // -> or a comparison
      if (open.pop() !== c) return -1;
      if (open.length === 0) return i + 1;
    }
  }
  return -1;
}

// Template arguments, or the <T as Trait> of Rust.
function shortAngles(inner: string): string {
  if (/^impl | as /.test(inner)) {
    let short = '';
    for (let i = 0; i < inner.length;) {
      const end = inner[i] === '<' ? groupEnd(inner, i) : -1;
      short += end > 0 ? '<\u2026>' : inner[i];
      i = end > 0 ? end : i + 1;
    }
    return `<${short}>`;
  }
  return inner.length <= kKeptArguments && !inner.includes('<') ? `<${inner}>` : '<\u2026>';
}

class Shortener {
  private out = '';
  private words = 0;        // where in `out` the last word begins
  private operator = false;  // spaces after "operator" separate no words
  private parameters = false;
  private suffix = '';
  private at = 0;

  constructor(private readonly text: string) {}

  run(): string | null {
    while (this.at < this.text.length) if (!this.step()) return null;
    const out = this.out.trimEnd();
    const name = out.slice(this.words);
    if (!this.parameters) return out + this.suffix;
    if (name === '') return null;
    const before = out.slice(0, this.words).trim();
    const isType = before !== '' && (name.includes('<') || before.split(' ').some(word => kTypeWords.test(word)));
    return (isType || before === '' ? name : out) + this.suffix;
  }

  private step(): boolean {
    const {text, at} = this;
    const c = text[at];
    if (c === 'o' && !isWord(text[at - 1]) && text.startsWith('operator', at) && !isWord(text[at + 8])) return this.takeOperator();
    if (kOpen.includes(c)) return this.takeGroup(c);
    if (kClose.includes(c)) return false;
    if (c === ' ' && !this.operator) {
      this.out += ' ';
      this.words = this.nextWord();
    } else if (c !== ' ' || text[at + 1] !== '<') {
      this.out += c;
    }
    this.at++;
    return true;
  }

  // " [clone .cold]" and " (int)" of Mono begin no word.
  private nextWord(): number {
    const next = this.text[this.at + 1];
    return next === '[' || next === '(' ? this.words : this.out.length;
  }

  private takeOperator(): boolean {
    const known = kOperator.exec(this.text.slice(this.at, this.at + 64));
    const taken = known ? known[0] : 'operator';  // a conversion: its type follows
    this.out += taken;
    this.at += taken.length;
    this.operator = true;
    return true;
  }

  private takeGroup(c: string): boolean {
    const end = groupEnd(this.text, this.at);
    if (end < 0) return false;
    const inner = this.text.slice(this.at + 1, end - 1);
    const previous = this.text[this.at - 1];
    const start = this.at;
    this.at = end;
    if (c === '<') this.out += shortAngles(inner);
    else if (c === '[') this.takeSquare(inner);
    else if (c === '{') this.out += '{' + inner.replace(/\(.*\)/s, '') + '}';
    else if (start === 0 || previous === ':' || previous === '.' || /(?:^|\s)decltype ?$/.test(this.out.slice(-11))) this.out += `(${inner})`;
    else return this.takeParameters(previous);
    return true;
  }

  private takeSquare(inner: string): void {
    if (inner.startsWith('clone ')) this.suffix += ` [${inner.slice(6)}]`;
    else if (!inner.startsWith('abi:')) this.out += `[${inner}]`;
  }

  private takeParameters(previous: string): boolean {
    if (previous === ' ') {  // Mono: Type:Method (int,string)
      const name = this.out.trimEnd();
      if (this.at !== this.text.length || /\s/.test(name.slice(this.words)) || !/[^:]:[^:]/.test(name)) return false;
      if (this.words > 0 && !name.startsWith('(wrapper ')) return false;
      this.words = 0;
    }
    this.parameters = true;
    const rest = /^(?: const| volatile| noexcept| &&?|&&?)+/.exec(this.text.slice(this.at, this.at + 40));
    if (rest) this.at += rest[0].length;
    const next = this.text.slice(this.at, this.at + 2);
    if (next === '::') this.operator = false;
    return next === '' || next === '::' || next === ' [' || next[0] === '[' || next[0] === '.';
  }
}

// The leading names inside a mangled name that could not be demangled: telltale::play_calls<…>.
function fromMangled(full: string): string | null {
  const start = /^_Z(Z?)N?[KVR]*(?:St)?/.exec(full);
  if (!start) return null;
  const parts: string[] = [];
  let at = start[0].length;
  for (let length = /^[1-9]\d*/.exec(full.slice(at, at + 6)); length; length = /^[1-9]\d*/.exec(full.slice(at, at + 6))) {
    at += length[0].length;
    const part = full.slice(at, at + Number(length[0]));
    parts.push(part === '_GLOBAL__N_1' ? '(anonymous namespace)' : part);
    at += Number(length[0]);
  }
  if (parts.length === 0 || at > full.length) return null;
  return parts.join('::') + (full[at] === 'I' ? '<\u2026>' : '') + (start[1] ? '::\u2026' : '');
}

export function shortName(full: string): string {
  if (full.length > kLongestParsed) return full;
  if (full.startsWith('_Z')) return fromMangled(full) ?? full;
  const prefix = kPrefix.exec(full)?.[0] ?? '';
  const short = new Shortener(full.slice(prefix.length)).run();
  if (short === null || short === '' || /^<\u2026>?$/.test(short)) return full;
  return prefix.replace('non-', '') + short.replace(/(\{lambda#\d+\})::operator\(\)(?:<[^<>]*>)?/g, '$1');
}

// What each of several different names has between the words at which all begin and end alike.
function differingParts(names: string[]): string[] {
  const [first] = names;
  let least = Infinity;
  for (const name of names) least = Math.min(least, name.length);
  let begin = 0;
  while (begin < least && names.every(name => name[begin] === first[begin])) begin++;
  let end = 0;
  while (end < least - begin && names.every(name => name[name.length - 1 - end] === first[first.length - 1 - end])) end++;
  while (begin > 0 && isWord(first[begin - 1])) begin--;
  while (end > 0 && isWord(first[first.length - end])) end--;
  return names.map(name => {
    const part = name.slice(begin, name.length - end).trim();
    return part.length > kKeptDifference ? `${part.slice(0, kKeptDifference / 2)}\u2026${part.slice(-kKeptDifference / 2)}` : part;
  });
}

// Labels for a list of names: different ones for different names. Overloads, whose labels would collide, keep short
// parameter lists, or what they differ in.
export function labelsOf(names: string[]): string[] {
  const labels = new Map<string, string>();
  const alike = new Map<string, string[]>();  // by label
  for (const name of new Set(names)) {
    const label = shortName(name);
    const others = alike.get(label);
    if (others === undefined) alike.set(label, [name]);
    else others.push(name);
  }
  const taken = new Set([...alike.keys()].filter(label => alike.get(label)!.length === 1));
  const numbers = new Map<string, number>();
  for (const [label, same] of alike) {
    if (same.length === 1) {
      labels.set(same[0], label);
      continue;
    }
    const parts = differingParts(same);
    same.forEach((name, i) => {
      const wanted = name.length <= kKeptOverload ? name : parts[i] === '' ? label : `${label} [${parts[i]}]`;
      let own = wanted;
      while (taken.has(own)) {
        const number = (numbers.get(wanted) ?? 1) + 1;
        numbers.set(wanted, number);
        own = `${wanted} (${number})`;
      }
      taken.add(own);
      labels.set(name, own);
    });
  }
  return names.map(name => labels.get(name)!);
}

// Prefixes that may be removed from a label, in this order: a kind of wrapper, a C++ namespace or class, a Mono
// namespace, a Mono class (except before .ctor).
const kCuts = [/^\(wrapper [\w-]+\) /, /^(?:[\p{L}\p{M}\p{N}_$~ ]+|\(anonymous namespace\))(?:<[^<>]*>)?::(?=[\p{L}\p{N}_$~{<(])/u,
               /^[\p{L}\p{M}\p{N}_$]+\.(?=[^:()]*:(?!:))/u, /^[\p{L}\p{M}\p{N}_$`./]+(?:<[^<>]*>)?:(?=[\p{L}\p{N}_])/u];

// The label in at most `room` characters: removes namespaces first, then truncates.
export function fitLabel(label: string, room: number): string {
  if (label.length <= room) return label;
  if (room < 2) return '';
  let rest = label;
  while (rest.length > room) {
    const head = rest.slice(0, 256);
    const cut = kCuts.map(cut => cut.exec(head)).find(found => found !== null);
    if (!cut) return `${rest.slice(0, room - 1)}\u2026`;
    rest = rest.slice(cut[0].length);
  }
  return rest;
}
