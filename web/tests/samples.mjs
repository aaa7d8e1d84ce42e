// Payloads for tests.

// A tree from nested calls: [name, self, [callees], calls]. Callees are ordered widest first, as telltale writes them.
export class CallsBuilder {
  functions = [];
  numbers = new Map();
  trees = [];

  number(name) {
    if (!this.numbers.has(name)) {
      this.numbers.set(name, this.functions.length);
      this.functions.push([name, `${name}.cc`, 10 + this.functions.length, '/bin/program']);
    }
    return this.numbers.get(name);
  }

  tree(title, outermost, before = null) {
    const total = call => call[1] + (call[2] ?? []).reduce((sum, callee) => sum + total(callee), 0);
    const inside = call => (call[3] ?? 1) + (call[2] ?? []).reduce((sum, callee) => sum + inside(callee), 0);
    const rows = [];
    const add = (call, depth) => {
      rows.push({depth, function: depth === 0 ? -1 : this.number(call[0]), calls: depth === 0 ? 0 : call[3] ?? 1,
                 inside: depth === 0 ? inside(call) - (call[3] ?? 1) : inside(call), total_ns: total(call), self_ns: call[1]});
      for (const callee of [...(call[2] ?? [])].sort((a, b) => total(b) - total(a))) add(callee, depth + 1);
    };
    add([title, 0, outermost], 0);
    const column = key => rows.map(row => row[key]);
    const tree = {title, pruned: {nodes: 0, self_ns: 0, share: 0}};
    for (const key of ['depth', 'function', 'calls', 'inside', 'total_ns', 'self_ns']) tree[key] = column(key);
    if (before) tree.before = before;
    this.trees.push(tree);
    return this;
  }

  data(more = {}) {
    return {units: {counted: 'calls', measured: 'time', suffix: 'ns'}, trees: this.trees, functions: this.functions, ...more};
  }
}

export const kCallsTabs = [{id: 'flame', kind: 'flame', title: 'Flame graph', data: 'calls'}, {id: 'functions', kind: 'functions', title: 'Functions', data: 'calls'},
  {id: 'callers', kind: 'callers', title: 'Callers and callees', data: 'calls'}];

export const callsPage = (data, more = {}) =>
  ({telltale_page: 1, title: 'small.xray', facts: [['file', 'small.xray'], ['span', '1 us']], summary: ['span'], data: {calls: data}, tabs: kCallsTabs, ...more});

// All threads: main 1500 { emit 800, parse 600 { Lex 200 } }: nodes 0 root, 1 main, 2 emit, 3 parse, 4 Lex.
export function smallCalls() {
  return new CallsBuilder()
    .tree('all threads', [['main', 100, [['parse', 400, [['Lex', 200]]], ['emit', 800, [], 2]], 2]])
    .tree('thread 1', [['main', 100, [['parse', 400, [['Lex', 200]]], ['emit', 300]]]])
    .tree('thread 2', [['main', 0, [['emit', 500]]]])
    .data();
}
export const smallPage = () => callsPage(smallCalls());

const kPwn = 'window.pwned=1';
const kBidi = [0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069, 0x200E, 0x200F, 0x61C].map(c => `${String.fromCharCode(c)}gnp.exe`);
export const kHostile = [
  `</script><script>${kPwn}</script>`, `<img src=x onerror=${kPwn}>`, `<svg onload=${kPwn}>`, `<!--<script>${kPwn}`, '-->', ']]>', '<![CDATA[',
  `javascript:${kPwn}`, `\${${kPwn}}`, `\`;${kPwn};\``, `';${kPwn};//`, `";${kPwn};//`, `\\";${kPwn};//`, `\\u003cscript>${kPwn}`, 'back\\slash', 'trailing\\',
  '\'', '"', '`', '&lt;&amp;&#60;', '@DATA@', '@SCRIPT@', '@CSP@', '$&$1$`$\'', '%s%n%x', '\x1b[31mred', '\x07bell', '\x01\x02\x1f', '\x7f', '\x80\x9f',
  'line\nend', 'tab\there', 'carriage\rreturn', '\u2028\u2029', '\ufeffmark', 'zero\u200bwidth', ...kBidi, 'e\u0301\u0301\u0301', '\u{1f600} caf\u00e9',
  '\u{e0041}tag', '\uffff\ufffe', '__proto__', 'constructor', 'toString', 'hasOwnProperty', ' ', '  leading', 'operator<<(std::ostream&, x)',
  '../../etc/passwd', '{"x":[1]}', '=1+1', `<a href="javascript:${kPwn}">x</a>`, `" onclick="${kPwn}`, `{{constructor.constructor('${kPwn}')()}}`,
  `<iframe srcdoc="<script>${kPwn}</script>">`, `<style>@import url(x)</style>`, `<meta http-equiv=refresh content="0;url=data:text/html,x">`,
  'x'.repeat(100000), '<b>'.repeat(30000), '('.repeat(50000), 'a::'.repeat(30000), '<'.repeat(20000) + '>'.repeat(20000),
];

// Generated text, determined by the seed.
export function generated(count, seed = 1) {
  const pieces = ['<', '>', '"', '\'', '&', '/', '\\', '`', '=', '(', ')', '{', '}', '::', 'script', 'img', 'onerror', 'operator', ' ', '\n', '\0', '\u2028', '\u202e', '\ud800', 'x', '#', '%3C', '</', '-->', '<!--'];
  let state = seed;
  const next = limit => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % limit;
  };
  return Array.from({length: count}, (_, i) => `${i}:${Array.from({length: 1 + next(12)}, () => pieces[next(pieces.length)]).join('')}`);
}
