// Bundles the page: node build.mjs NODE_MODULES OUTPUT_FOLDER writes page.js and page.css there.
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const [modules, output] = process.argv.slice(2);
const esbuild = createRequire(path.join(path.resolve(modules), 'x.js'))('esbuild');
const here = path.dirname(fileURLToPath(import.meta.url));
await esbuild.build({
  absWorkingDir: here,
  entryPoints: {page: 'src/main.tsx'},
  bundle: true,
  minify: true,
  charset: 'ascii',
  format: 'iife',
  target: ['chrome123', 'firefox120', 'safari17.5'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  nodePaths: [path.resolve(modules)],
  legalComments: 'none',
  logLevel: 'warning',
  outdir: path.resolve(output),
});
await esbuild.build({absWorkingDir: here, entryPoints: {page: 'style.css'}, minify: true, charset: 'ascii', logLevel: 'warning', outdir: path.resolve(output)});
