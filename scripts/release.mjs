// Makes the files of a release: `npm run --silent release [FOLDER]`. The package for npm, the chart, an SBOM (CycloneDX) and checksums. The
// same commit gives the same bytes, so that everybody can compare (docs/verify.md). Publishes nothing.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const out = resolve(process.argv[2] ?? join(root, '.cache/release'));
process.chdir(root);
const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const run = (program, ...args) =>
  execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] });
/** Seconds since the epoch. */
const time = process.env.SOURCE_DATE_EPOCH ?? run('git', 'log', '-1', '--format=%ct').trim();

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
run('npm', 'pack', '--silent', '--pack-destination', out);
copyFileSync('dist/extension/extension.tar.gz', join(out, 'extension.tar.gz'));
packChart();
writeSbom();
writeChecksums();

/** An archive as `helm package` makes one, which puts the time of the day into it. */
function packChart() {
  const order = ['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
  const tar = join(out, `${name}-chart-${version}.tar`);
  run('tar', ...order, '-cf', tar, '-C', 'deploy/chart', name);
  run('gzip', '-n', '-9', tar);
}

/**
 * What the program consists of at run time: npm's SBOM of everything, without what the lock file calls development. With `--omit dev` npm
 * 11.19 also leaves out packages that the program and a tool of development share. npm takes the name of the folder, a random number
 * and the time of the day.
 */
function writeSbom() {
  const refs = new Set(runtimeRefs());
  const what = ['--package-lock-only', '--sbom-format', 'cyclonedx'];
  const { serialNumber: _, ...sbom } = JSON.parse(run('npm', 'sbom', ...what));
  const { component } = sbom.metadata;
  const isKept = (ref) => refs.has(ref) || ref === component['bom-ref'];
  sbom.metadata.timestamp = new Date(Number(time) * 1000).toISOString();
  component.name = name;
  sbom.components = sbom.components
    .filter((one) => isKept(one['bom-ref']))
    // What is also used in development is marked as if it were used there alone.
    .map(({ properties = [], ...one }) => ({
      ...one,
      properties: properties.filter((property) => property.name !== 'cdx:npm:package:development'),
    }));
  sbom.dependencies = sbom.dependencies
    .filter(({ ref }) => isKept(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isKept) }));
  writeFileSync(join(out, `${name}-${version}.cdx.json`), `${JSON.stringify(sbom, undefined, 2)}\n`);
}

function runtimeRefs() {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  return Object.entries(packages)
    .filter(([path, { dev, link }]) => path.includes('node_modules/') && dev !== true && link !== true)
    .map(([path, entry]) => `${entry.name ?? path.split('node_modules/').at(-1)}@${entry.version}`);
}

function writeChecksums() {
  const lines = readdirSync(out)
    .sort()
    .map((file) => `${createHash('sha256').update(readFileSync(join(out, file))).digest('hex')}  ${file}\n`);
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''));
  process.stdout.write(lines.join(''));
}
