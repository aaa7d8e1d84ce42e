// Short names.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {esbuild} from './browser.mjs';
import {generated, kHostile} from './samples.mjs';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'telltale-names-'));
const source = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', 'src', 'text', 'names.ts');
await esbuild.build({entryPoints: [source], outfile: path.join(folder, 'names.mjs'), format: 'esm', logLevel: 'warning'});
const {shortName, labelsOf, fitLabel} = await import(pathToFileURL(path.join(folder, 'names.mjs')));
fs.rmSync(folder, {recursive: true});

const kNames = [
  ['serve(std::vector<Order, std::allocator<Order> > const&, unsigned long, Store&)', 'serve'],
  ['auto ns::f<int>(int)::{lambda(auto:1)#1}::operator()<int>(int) const', 'ns::f<int>::{lambda#1}'],
  ['void foo<std::vector<int, std::allocator<int>>>(int)', 'foo<\u2026>'],
  ['std::enable_if<(1 > 0), int>::type ns::g<int>(int)', 'ns::g<int>'],
  ['int Foo::bar(int) const::{lambda()#1}::operator()() const', 'Foo::bar::{lambda#1}'],
  ['std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)', 'std::operator<<<\u2026>'],
  ['Foo::operator std::string() const', 'Foo::operator std::string'], ['Foo::operator()(int)', 'Foo::operator()'],
  ['a::operator<(int, int)', 'a::operator<'], ['auto operator<=><int>(int, int)', 'operator<=><int>'], ['operator new[](unsigned long)', 'operator new[]'],
  ['std::function<int (int)>::operator()(int) const', 'std::function<int (int)>::operator()'], ['(anonymous namespace)::foo(int)', '(anonymous namespace)::foo'],
  ['decltype(auto) f<int>(int)', 'f<int>'], ['server::read_line[abi:cxx11](int)', 'server::read_line'], ['foo(int) [clone .cold]', 'foo [.cold]'],
  ['non-virtual thunk to X::f(int)', 'virtual thunk to X::f'], ['static std::string X::y()', 'X::y'], ['int main()', 'main'], ['x::~x()', 'x::~x'],
  ['System.Collections.Generic.List`1<T>:Add (T)', 'System.Collections.Generic.List`1<T>:Add'], ['System.String:.ctor (char[])', 'System.String:.ctor'],
  ['(wrapper managed-to-native) System.Object:__icall (intptr,int)', '(wrapper managed-to-native) System.Object:__icall'],
  ['<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop', '<alloc::vec::Vec<\u2026> as core::ops::drop::Drop>::drop'],
  ['core::ptr::drop_in_place::<alloc::vec::Vec<u8>>', 'core::ptr::drop_in_place::<\u2026>'], ['main.(*T).Method', 'main.(*T).Method'],
  ['_ZN8telltale15build_call_treeITkNS_11EventSourceENS_13XrayRecordingEEEvRKT_', 'telltale::build_call_tree<\u2026>'],
  ['_ZZN8telltale10play_callsITkNS_11EventSourceEEEvvENKUlvE_clEv', 'telltale::play_calls<\u2026>::\u2026'],
  ['long größe::Maß<int>::f(Feld<größe::Maß<int> >)', 'größe::Maß<int>::f'], ['算法::排序<长度<int> >(int)', '算法::排序<\u2026>'],
  // Unknown syntax is kept.
  ['compute the mean (slow)', 'compute the mean (slow)'], ['void (*f(int))(int)', 'void (*f(int))(int)'], ['a < b', 'a < b'], ['<img src=x onerror=1>', '<img src=x onerror=1>'],
  ['#17', '#17'], ['', ''], ['_Z', '_Z'], ['_ZN99999x', '_ZN99999x'], ['f(', 'f('], ['f)', 'f)'],
];

test('return types, parameters and long template arguments go', () => {
  for (const [full, short] of kNames) assert.equal(shortName(full), short, full);
});

test('overloads keep their parameters', () => {
  assert.deepEqual(labelsOf(['f(int)', 'f(double)', 'g(int)', 'f(int)']), ['f(int)', 'f(double)', 'g', 'f(int)']);
});

test('different functions have different labels', () => {
  const long = (type, value) => `ns::Handler<std::pair<${type}, std::allocator<${type} > > >::handle(std::vector<${type}, std::allocator<${type}> > const&, ${value})`;
  const label = 'ns::Handler<\u2026>::handle';
  assert.deepEqual(labelsOf([long('int', 'int'), long('int', 'char'), 'main']), [`${label} [int]`, `${label} [char]`, 'main']);
  const labels = labelsOf([long('int', 'int'), long('long', 'int'), long('int', 'int'), long('int', 'char')]);
  assert.equal(labels[0], labels[2]);
  assert.equal(new Set(labels).size, 3);
  for (const one of labels) assert.ok(one.startsWith(label) && one.length < label.length + 40, one);
  // As many as a program has, and what they differ in is long.
  const many = Array.from({length: 20000}, (_, i) => `void g<${'Part<'.repeat(9)}int${'>'.repeat(9)}, ${'x'.repeat(30)}${i % 20000}>(int)`);
  assert.equal(new Set(labelsOf(many)).size, many.length);
});

test('a narrow box shows the innermost name', () => {
  assert.equal(fitLabel('a::b::Foo<\u2026>::bar', 8), 'bar');
  assert.equal(fitLabel('a::b::Foo::bar', 9), 'Foo::bar');
  assert.equal(fitLabel('System.Text.Builder:Append', 16), 'Builder:Append');
  assert.equal(fitLabel('System.String:.ctor', 13), 'String:.ctor');
  assert.equal(fitLabel('(anonymous namespace)::foo', 6), 'foo');
  assert.equal(fitLabel('(wrapper managed-to-native) A:go', 6), 'A:go');
  assert.equal(fitLabel('Größe::wert', 5), 'wert');
  assert.equal(fitLabel('算法::Größe<int>::wert', 11), 'wert');
  assert.equal(fitLabel('Löwen.Käfig:Öffnen', 12), 'Käfig:Öffnen');
  assert.equal(fitLabel('identifier', 5), 'iden\u2026');
  assert.equal(fitLabel('identifier', 1), '');
});

test('any text gives a label that fits', () => {
  for (const name of [...kHostile, ...generated(20000, 7)]) {
    const label = shortName(name);
    assert.ok(label !== '' && label.length <= name.length + 2, JSON.stringify(name.slice(0, 80)));
    for (const room of [2, 7, 40]) assert.ok(fitLabel(label, room).length <= room);
  }
});
