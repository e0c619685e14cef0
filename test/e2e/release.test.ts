import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyCheckout } from './copy-checkout.ts';

describe('the files of a release', () => {
  let dir: string;
  let checkout: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'berth-release-'));
    checkout = join(dir, 'checkout');
    copyCheckout(checkout);
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const release = (folder: string, args: readonly string[] = [], commit = ''): string => {
    const env = { ...process.env, SOURCE_DATE_EPOCH: '1764288000', BERTH_COMMIT: commit };
    const options = { cwd: checkout, env, encoding: 'utf8' } as const;
    return execFileSync(process.execPath, ['scripts/release.mjs', join(dir, folder), ...args], options);
  };

  it('are the same bytes when they are made again, with checksums that hold', () => {
    const sums = release('one');
    expect(release('two')).toBe(sums);
    expect(readFileSync(join(dir, 'one/SHA256SUMS'), 'utf8')).toBe(sums);
    for (const line of sums.trimEnd().split('\n')) {
      const [sum = '', file = ''] = line.split('  ');
      expect(
        createHash('sha256')
          .update(readFileSync(join(dir, 'one', file)))
          .digest('hex'),
      ).toBe(sum);
    }
    expect(readdirSync(join(dir, 'one'))).toEqual([
      'SHA256SUMS',
      'berth-0.1.0.cdx.json',
      'berth-0.1.0.provenance.json',
      'berth-0.1.0.tgz',
      'berth-chart-0.1.0.tar.gz',
      'extension.tar.gz',
    ]);
    const sbom = JSON.parse(readFileSync(join(dir, 'one/berth-0.1.0.cdx.json'), 'utf8')) as {
      metadata: { component: { name: string } };
      components: readonly { name: string; 'bom-ref': string }[];
    };
    expect(sbom.metadata.component.name).toBe('berth');
    // Exactly those that the lock file does not call development.
    const { packages } = JSON.parse(readFileSync(join(checkout, 'package-lock.json'), 'utf8')) as {
      packages: Readonly<Record<string, { version: string; dev?: true; link?: true }>>;
    };
    const locked = Object.entries(packages)
      .filter(([path, { dev, link }]) => path.includes('node_modules/') && dev !== true && link !== true)
      .map(([path, entry]) => `${path.split('node_modules/').at(-1) ?? ''}@${entry.version}`);
    const refs = sbom.components.map((component) => component['bom-ref']);
    expect([...new Set(refs)].sort()).toEqual([...new Set(locked)].sort());
    const { dependencies } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
      dependencies: Readonly<Record<string, string>>;
    };
    const listed = sbom.components.map(({ name }) => name);
    for (const name of Object.keys(dependencies)) expect(listed).toContain(name);
    const chart = execFileSync('tar', ['-tzf', join(dir, 'one/berth-chart-0.1.0.tar.gz')], {
      encoding: 'utf8',
    });
    expect(chart).toContain('berth/Chart.yaml\n');
  });

  it('are signed together with what they were made from, which the documented commands check', () => {
    const keyOf = (name: string): string => {
      const { privateKey, publicKey } = generateKeyPairSync('ed25519');
      writeFileSync(join(dir, `${name}.pem`), privateKey.export({ type: 'pkcs8', format: 'pem' }));
      writeFileSync(join(dir, `${name}.pub`), publicKey.export({ type: 'spki', format: 'pem' }));
      return join(dir, `${name}.pem`);
    };
    const [key] = [keyOf('releaser'), keyOf('stranger')];
    expect(() => release('unknown', ['--sign-key', key])).toThrow(/needs a clean checkout/);
    const commit = 'a'.repeat(40);
    const sums = release('signed', ['--sign-key', key], commit);
    expect(sums).not.toContain('dsse');
    const folder = join(dir, 'signed');
    const statement = readFileSync(join(folder, 'berth-0.1.0.provenance.json'), 'utf8');
    const { subject, predicate } = JSON.parse(statement) as {
      readonly subject: readonly { readonly name: string }[];
      readonly predicate: { readonly buildDefinition: { readonly resolvedDependencies: readonly object[] } };
    };
    const artifacts = subject.map(({ name }) => name);
    expect(artifacts).toEqual([
      ...['berth-0.1.0.cdx.json', 'berth-0.1.0.tgz', 'berth-chart-0.1.0.tar.gz', 'extension.tar.gz'],
    ]);
    expect(predicate.buildDefinition.resolvedDependencies).toContainEqual({
      name: 'source',
      digest: { gitCommit: commit },
    });
    const commands = /```\n(P=[\s\S]*?)```/.exec(readFileSync('docs/verify.md', 'utf8'))?.[1] ?? '';
    const script = `set -e -o pipefail\n${commands.replace('VERSION', '0.1.0')}`;
    /** The exit code of the commands of the page, with the public key of this person. */
    const verify = (person: string): number | null => {
      copyFileSync(join(dir, `${person}.pub`), join(folder, 'release.pub'));
      return spawnSync('bash', ['-c', script], { cwd: folder }).status;
    };
    expect(verify('releaser')).toBe(0);
    expect(verify('stranger')).not.toBe(0);
    for (const file of [...artifacts, 'berth-0.1.0.provenance.json', 'berth-0.1.0.provenance.dsse.json']) {
      const whole = readFileSync(join(folder, file));
      const changed = Buffer.from(whole);
      const at = file.endsWith('.dsse.json') ? whole.indexOf('"sig":"') + 10 : whole.length >> 1;
      changed[at] = changed[at] === 65 ? 66 : 65;
      writeFileSync(join(folder, file), changed);
      expect(verify('releaser'), file).not.toBe(0);
      writeFileSync(join(folder, file), whole);
    }
    expect(verify('releaser')).toBe(0);
  });
});
