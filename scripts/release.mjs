// Makes the files of a release: `npm run --silent release -- [FOLDER] [--sign-key FILE]`. The package for npm, the chart, an SBOM (CycloneDX),
// a statement of provenance and checksums. The same commit gives the same bytes, so that everybody can compare (docs/verify.md). With a
// private key (PEM) the statement is also signed. Publishes nothing.
import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../', import.meta.url));
const { values, positionals } = parseArgs({ allowPositionals: true, options: { 'sign-key': { type: 'string' } } });
const out = resolve(positionals[0] ?? join(root, '.cache/release'));
const keyFile = values['sign-key'];
const key = keyFile === undefined ? undefined : createPrivateKey(readFileSync(keyFile));
process.chdir(root);
const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const run = (program, ...args) =>
  execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] });
/** Seconds since the epoch. */
const time = process.env.SOURCE_DATE_EPOCH ?? run('git', 'log', '-1', '--format=%ct').trim();

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
run('npm', 'pack', '--silent', '--pack-destination', out);
const { commit } = JSON.parse(readFileSync('dist/build.json', 'utf8'));
const isCommit = /^[0-9a-f]{40,64}$/.test(commit);
if (key !== undefined && !isCommit)
  throw new Error(`a signed statement names the commit that was built, which needs a clean checkout; got ${commit}`);
copyFileSync('dist/extension/extension.tar.gz', join(out, 'extension.tar.gz'));
packChart();
writeSbom();
const statement = writeProvenance();
writeChecksums();
if (key !== undefined) writeEnvelope(key);

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

/**
 * What the files were made from, and how: a statement of in-toto (v1) with SLSA's predicate provenance/v1. It contains no time and no
 * machine, so that a second build gives the same bytes.
 */
function writeProvenance() {
  const subject = readdirSync(out)
    .sort()
    .map((file) => ({ name: file, digest: { sha256: sha256Of(join(out, file)) } }));
  const source = isCommit ? [{ name: 'source', digest: { gitCommit: commit } }] : [];
  const predicate = {
    buildDefinition: {
      buildType: 'https://berth.dev/provenance/npm-run-release/v1',
      externalParameters: { command: 'npm ci && npm run --silent release', sourceDateEpoch: String(time) },
      internalParameters: { node: process.version, npm: run('npm', '--version').trim() },
      resolvedDependencies: [...source, { name: 'package-lock.json', digest: { sha256: sha256Of('package-lock.json') } }],
    },
    // Everybody can build it, so the statement is about a command and not about a place.
    runDetails: { builder: { id: 'https://berth.dev/provenance/builder/npm-run-release' } },
  };
  const predicateType = 'https://slsa.dev/provenance/v1';
  const text = `${JSON.stringify({ _type: 'https://in-toto.io/Statement/v1', subject, predicateType, predicate }, undefined, 2)}\n`;
  writeFileSync(join(out, `${name}-${version}.provenance.json`), text);
  return Buffer.from(text);
}

/** The signed statement, in an envelope of DSSE v1 (secure-systems-lab/dsse, `protocol.md`). Not every kind of key signs the same twice. */
function writeEnvelope(privateKey) {
  const payloadType = 'application/vnd.in-toto+json';
  const signed = Buffer.concat([
    Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${statement.length} `),
    statement,
  ]);
  const isEdwards = privateKey.asymmetricKeyType?.startsWith('ed');
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const keyid = createHash('sha256').update(publicKey).digest('hex');
  const sig = sign(isEdwards ? null : 'sha256', signed, privateKey).toString('base64');
  const envelope = { payloadType, payload: statement.toString('base64'), signatures: [{ keyid, sig }] };
  writeFileSync(join(out, `${name}-${version}.provenance.dsse.json`), `${JSON.stringify(envelope)}\n`);
}

function sha256Of(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function writeChecksums() {
  const lines = readdirSync(out)
    .sort()
    .map((file) => `${sha256Of(join(out, file))}  ${file}\n`);
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''));
  process.stdout.write(lines.join(''));
}
