// Packs packages of this repository for others: `npm run --silent pack:packages -- addon`. JavaScript and declarations take the place of the
// sources. Each package that one of them imports is packed, too, and none is bundled into another: so all of them have the same classes.
// Prints the files. Publishes nothing.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { FOR_NODE } from './own-packages.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const OUT = '.cache/packages';
process.chdir(root);

const asked = process.argv.slice(2);
const known = readdirSync('packages');
const unknown = asked.filter((name) => !known.includes(name));
if (asked.length === 0 || unknown.length > 0) {
  console.error(`pack:packages: got ${JSON.stringify(unknown.join(' '))}, expected ${known.join(', ')}`);
  process.exit(2);
}
const names = withImported(asked);
const tsc = ['node_modules/typescript/bin/tsc', '--build', ...names.map((name) => `packages/${name}`)];
execFileSync(process.execPath, tsc, { stdio: 'inherit' });
rmSync(OUT, { recursive: true, force: true });
for (const name of names) {
  const args = ['pack', '--json', '--pack-destination', join(root, OUT)];
  const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: await writeFolder(name), encoding: 'utf8' }));
  console.log(join(OUT, filename));
}

/** @returns the folder of what is packed */
async function writeFolder(name) {
  const source = join('packages', name);
  const folder = join(OUT, name);
  const manifest = manifestOf(name);
  const { exports } = manifest;
  await build({
    ...FOR_NODE,
    absWorkingDir: join(root, source),
    outbase: 'src',
    entryPoints: Object.values(exports),
    outdir: join(root, folder, 'dist'),
    splitting: true,
  });
  // Declarations of sources that are gone may still be there.
  const isCurrent = (file) => !file.endsWith('.d.ts') || existsSync(sourceOf(name, file));
  cpSync(join('.cache/types', name), join(folder, 'dist'), { recursive: true, filter: isCurrent });
  for (const path in exports) {
    const [file] = exports[path].replace('./src/', './dist/').split(/\.ts$/);
    exports[path] = { types: `${file}.d.ts`, default: `${file}.js` };
  }
  for (const field of ['private', 'scripts', 'devDependencies']) delete manifest[field];
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, files: ['dist'] }, null, 2));
  cpSync('LICENSE', join(folder, 'LICENSE'));
  cpSync(join(source, 'README.md'), join(folder, 'README.md'));
  return folder;
}

function sourceOf(name, declaration) {
  return declaration.replace(join('.cache/types', name), join('packages', name, 'src')).replace(/\.d\.ts$/, '.ts');
}

function withImported(asked) {
  const found = new Set(asked);
  for (const name of found) {
    const { dependencies, peerDependencies } = manifestOf(name);
    for (const dependency in { ...dependencies, ...peerDependencies })
      if (dependency.startsWith('@berth/')) found.add(dependency.slice('@berth/'.length));
  }
  return [...found].sort();
}

function manifestOf(name) {
  return JSON.parse(readFileSync(join('packages', name, 'package.json'), 'utf8'));
}
