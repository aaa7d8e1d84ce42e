// Loads a trace into Perfetto's trace processor and runs SQL on it:
//   node perfetto_engine.js UI_DIR TRACE < QUERIES
// UI_DIR holds the Perfetto UI's engine_bundle.js and *.wasm, which run here as in the UI's worker. QUERIES: a JSON
// list of SQL strings. Prints a JSON list with {columns, rows} per query, or {error}; integers in full.
// Message and field numbers: https://perfetto.dev/docs (trace_processor.proto, TraceProcessorRpc).
'use strict';
const fs = require('fs');
const path = require('path');

const [, , uiDir, tracePath] = process.argv;
const APPEND = 1, FINALIZE = 2, QUERY = 3;
const CHUNK = 16 << 20;

function fail(text) {
  fs.writeSync(2, `perfetto_engine: ${text}\n`);
  process.exit(1);
}

// ---- Protobuf wire format
function varint(value) {
  const bytes = [];
  for (value = BigInt(value); value > 127n; value >>= 7n) bytes.push(Number(value & 127n) | 128);
  bytes.push(Number(value));
  return Buffer.from(bytes);
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);

class Reader {
  constructor(data) {
    this.data = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    this.at = 0;
  }
  more() { return this.at < this.data.length; }
  varint() {
    let low = 0, shift = 0;
    for (; shift < 49; shift += 7) {
      const byte = this.data[this.at++];
      low += (byte & 127) * 2 ** shift;
      if (byte < 128) return low;
    }
    let high = 0n;
    for (;; shift += 7) {
      const byte = this.data[this.at++];
      high |= BigInt(byte & 127) << BigInt(shift);
      if (byte < 128) return BigInt.asIntN(64, high | BigInt(low));
    }
  }
  // Calls handle(field, value) for each field: a number for varints, a Buffer for fields with a length.
  fields(handle) {
    while (this.more()) {
      const key = this.varint();
      const type = key & 7;
      if (type === 0) handle(key >>> 3, this.varint());
      else if (type === 2) {
        const length = this.varint();
        handle(key >>> 3, this.data.subarray(this.at, this.at += length));
      } else if (type === 1) handle(key >>> 3, this.data.subarray(this.at, this.at += 8));
      else if (type === 5) handle(key >>> 3, this.data.subarray(this.at, this.at += 4));
      else fail(`wire type ${type} in a reply`);
    }
  }
}

// ---- QueryResult: batches of cells
class Result {
  constructor() { this.columns = []; this.cells = []; this.error = ''; this.last = false; }
  add(message) {
    new Reader(message).fields((field, value) => {
      if (field === 1) this.columns.push(value.toString());
      else if (field === 2) this.error = value.toString();
      else if (field === 3) this.batch(value);
    });
    if (this.error) this.last = true;
  }
  batch(message) {
    const kinds = [], strings = [];
    let integers = new Reader(Buffer.alloc(0)), floats = integers;
    new Reader(message).fields((field, value) => {
      if (field === 1) kinds.push(...value);
      else if (field === 2) integers = new Reader(value);
      else if (field === 3) floats = new Reader(value);
      else if (field === 5) strings.push(...value.toString().split('\0'));
      else if (field === 6) this.last = value !== 0;
    });
    let string = 0;
    for (const kind of kinds) {
      if (kind === 1) this.cells.push('null');
      else if (kind === 2) this.cells.push(String(integers.varint()));
      else if (kind === 3) {
        const value = floats.data.readDoubleLE(floats.at);
        floats.at += 8;
        this.cells.push(JSON.stringify(value));
      } else if (kind === 4) this.cells.push(JSON.stringify(strings[string++]));
      else fail(`cell of kind ${kind}`);
    }
  }
  json() {
    if (this.error) return JSON.stringify({error: this.error});
    const rows = [], width = this.columns.length;
    for (let i = 0; i < this.cells.length; i += width) rows.push(`[${this.cells.slice(i, i + width).join()}]`);
    return `{"columns":${JSON.stringify(this.columns)},"rows":[${rows.join(',\n')}]}`;
  }
}

// ---- The UI's worker: its bundle talks over a message port, one TraceProcessorRpcStream per message.
function startEngine(onReply) {
  return new Promise((ready) => {
    const port = {postMessage: onReply, onmessage: null};
    const wasm = Object.create(WebAssembly);
    wasm.Instance = function(module, imports) {
      const exports = {...new WebAssembly.Instance(module, imports).exports};
      const init = exports.trace_processor_rpc_init;
      if (init) {
        exports.trace_processor_rpc_init = (...args) => {
          setImmediate(() => ready(port));  // after the bundle has stored the address
          return init(...args);
        };
      }
      return {exports};
    };
    class Request {
      open(method, url) { this.file = path.join(uiDir, path.basename(url)); }
      send() { this.response = fs.readFileSync(this.file); }
    }
    const self = {location: {href: 'http://127.0.0.1/engine_bundle.js'}};
    const bundle = fs.readFileSync(path.join(uiDir, 'engine_bundle.js'), 'utf8');
    const quiet = {...console, log: console.error, info: console.error, warn: console.error};
    new Function('self', 'WorkerGlobalScope', 'importScripts', 'process', 'window', 'document', 'XMLHttpRequest',
                 'WebAssembly', 'console', bundle)(
        self, Object, () => {}, undefined, undefined, undefined, Request, wasm, quiet);
    self.onmessage({data: port});
  });
}

async function main() {
  let pending = Buffer.alloc(0);
  let expected = null, sequence = 0;
  const onReply = (data) => {
    pending = Buffer.concat([pending, Buffer.from(data)]);
    for (;;) {  // TraceProcessorRpcStream.msg
      const reader = new Reader(pending);
      if (pending.length === 0) return;
      if (reader.varint() !== 10) fail('a reply that is no TraceProcessorRpcStream');
      const length = reader.varint();
      if (pending.length < reader.at + length) return;
      const message = pending.subarray(reader.at, reader.at + length);
      pending = pending.subarray(reader.at + length);
      new Reader(message).fields((field, value) => {
        if (field === 5) fail(`fatal: ${value}`);
        else if (field === 201) {
          new Reader(value).fields((inner, text) => {
            if (inner === 2) fail(`the trace is refused: ${text}`);
          });
        } else if (field === 203) expected.add(value);
      });
    }
  };
  const port = await startEngine(onReply);
  const call = (method, ...fields) => {
    const message = Buffer.concat([number(1, sequence++), number(2, method), ...fields]);
    port.onmessage({data: new Uint8Array(bytes(1, message))});
  };

  const queries = JSON.parse(fs.readFileSync(0, 'utf8'));
  const trace = fs.readFileSync(tracePath);
  for (let at = 0; at < trace.length; at += CHUNK) call(APPEND, bytes(101, trace.subarray(at, at + CHUNK)));
  call(FINALIZE);
  const answers = [];
  for (const query of queries) {
    expected = new Result();
    call(QUERY, bytes(103, bytes(1, Buffer.from(query))));
    if (!expected.last) fail(`no whole answer to: ${query}`);
    answers.push(expected.json());
  }
  fs.writeFileSync(1, `[${answers.join(',\n')}]\n`);
}

process.on('uncaughtException', (error) => fail(error.stack));
process.on('unhandledRejection', (error) => fail(error.stack));
main();
