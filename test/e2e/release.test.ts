import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
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

  const release = (folder: string): string => {
    const env = { ...process.env, SOURCE_DATE_EPOCH: '1764288000' };
    const options = { cwd: checkout, env, encoding: 'utf8' } as const;
    return execFileSync(process.execPath, ['scripts/release.mjs', join(dir, folder)], options);
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
});
