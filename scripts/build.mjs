// Builds the command into dist/ (`npm run build`): a bundle whose parts load when they are needed. It checks no types; `npm run typecheck` does.
// `--modules` (`npm run build:modules`) also builds each module into a file of its own, into .cache/modules, for tests and benchmarks
// that import single ones.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { FOR_NODE, OWN_PACKAGES } from './own-packages.mjs';

const root = new URL('../', import.meta.url);
const PARSER = 'src/controllers/sources/parsing/parse-worker.ts';
/** What runs in a process or a thread of its own; `builtProgram` finds them. */
const PROGRAMS = [
  'src/app/cli/main.ts',
  'src/app/serve/plan-process.ts',
  'src/controllers/dashboard/question-worker.ts',
  PARSER,
];
/** The page of the dashboard, for browsers: `dist/ui`. */
const PAGE = ['src/ui/main.ts', 'src/ui/app.css'];

const OPTIONS = {
  ...FOR_NODE,
  absWorkingDir: fileURLToPath(root),
  outbase: '.',
  chunkNames: 'chunks/[name]-[hash]',
  splitting: true,
  plugins: [OWN_PACKAGES],
  sourcemap: true,
  sourcesContent: false,
};

rmSync(new URL('dist', root), { recursive: true, force: true });
const { metafile } = await build({ ...OPTIONS, entryPoints: PROGRAMS, outdir: 'dist', metafile: true });
writeFileSync(new URL('dist/build.json', root), JSON.stringify({ parser: digestOf(PARSER) }));
const forBrowsers = {
  absWorkingDir: fileURLToPath(root),
  bundle: true,
  minify: true,
  target: 'es2022',
  legalComments: 'none',
  plugins: [OWN_PACKAGES],
};
await build({ ...forBrowsers, entryPoints: PAGE.map((path) => ({ in: path, out: 'app' })), outdir: 'dist/ui', format: 'esm' });
await buildExtension();
process.chdir(fileURLToPath(root));
await import('./write-build.mjs');

if (process.argv.includes('--modules')) {
  rmSync(new URL('.cache/modules', root), { recursive: true, force: true });
  await build({ ...OPTIONS, entryPoints: ['src', 'plugin', ...packageFolders()].flatMap(sourcesIn), outdir: '.cache/modules' });
}

/** The extension of Argo CD as argocd-extension-installer takes it: an archive with the folder `resources`, and its checksum. */
async function buildExtension() {
  const script = { entryPoints: ['plugin/extension/extension.ts'], format: 'iife', write: false };
  const { outputFiles } = await build({ ...forBrowsers, ...script });
  const archive = gzipSync(tarOf('resources/extension-berth.js/extension-berth.js', Buffer.from(outputFiles[0].contents)));
  mkdirSync(new URL('dist/extension', root));
  writeFileSync(new URL('dist/extension/extension.tar.gz', root), archive);
  const line = `${createHash('sha256').update(archive).digest('hex')}  extension.tar.gz\n`;
  writeFileSync(new URL('dist/extension/extension_checksums.txt', root), line);
}

/** One file (POSIX ustar). The same file gives the same bytes. */
function tarOf(name, content) {
  const octal = (number, digits) => `${number.toString(8).padStart(digits, '0')}\0`;
  const head = Buffer.alloc(512);
  const owner = octal(0, 7).repeat(2);
  head.write(`${name.padEnd(100, '\0')}${octal(0o644, 7)}${owner}${octal(content.length, 11)}${octal(0, 11)}        0`);
  head.write('ustar\x0000', 257);
  head.write(`${octal(head.reduce((sum, byte) => sum + byte), 6)} `, 148);
  return Buffer.concat([head, content, Buffer.alloc(1024 + ((512 - (content.length % 512)) % 512))]);
}

function packageFolders() {
  return readdirSync(new URL('packages', root)).map((name) => `packages/${name}/src`);
}

function sourcesIn(folder) {
  return readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`);
}

/** Of all files that a program is made of, and of the versions of its dependencies. */
function digestOf(program) {
  const files = new Set([program, 'package.json']);
  for (const file of files)
    for (const { path } of metafile.inputs[file]?.imports ?? [])
      if (path in metafile.inputs) files.add(path);
  const hash = createHash('sha256');
  for (const file of [...files].sort()) hash.update(file).update(readFileSync(new URL(file, root)));
  return hash.digest('hex').slice(0, 32);
}
