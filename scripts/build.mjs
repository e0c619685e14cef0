// Builds the command into dist/ (`npm run build`): a bundle whose parts load when they are needed. It checks no types; `npm run typecheck` does.
// `--modules` (`npm run build:modules`) also builds each module into a file of its own, into .cache/modules, for tests and benchmarks
// that import single ones.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
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
await build({
  absWorkingDir: fileURLToPath(root),
  entryPoints: PAGE.map((path) => ({ in: path, out: 'app' })),
  outdir: 'dist/ui',
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  legalComments: 'none',
  plugins: [OWN_PACKAGES],
});
process.chdir(fileURLToPath(root));
await import('./write-build.mjs');

if (process.argv.includes('--modules')) {
  rmSync(new URL('.cache/modules', root), { recursive: true, force: true });
  await build({ ...OPTIONS, entryPoints: ['src', 'plugin', ...packageFolders()].flatMap(sourcesIn), outdir: '.cache/modules' });
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
