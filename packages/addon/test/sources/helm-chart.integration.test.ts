import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { helmChart } from '@berth/addon/helm-chart';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findHelm } from './find-helm.ts';
import { ANNOTATED, CONFIGURED, contextOf } from './source-context.ts';

const CHART = join(import.meta.dirname, 'chart');
const program = findHelm();

describe.skipIf(program === undefined)('a Helm chart, with the program helm', () => {
  it('makes CRDs and objects, with values of all layers', async () => {
    const values = { colour: 'given', global: { image: 'given' } };
    const context = contextOf({
      ...{ installNamespace: 'agents', ...ANNOTATED({ global: { image: 'annotated' } }) },
      ...CONFIGURED([{ name: 'colour', value: 'true' }]),
    });
    const made = await helmChart(CHART, { values, program })(context);
    expect(made.map(({ kind }) => kind)).toEqual(['CustomResourceDefinition', 'ServiceAccount', 'ConfigMap']);
    expect(made[2]).toEqual({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'hello', namespace: 'agents' } },
      data: { cluster: 'cluster1', colour: 'true', image: 'annotated', keep: 'kept', version: 'v1.30.2' },
    });
  });

  it('says what helm has against it', async () => {
    const made = helmChart(CHART, { values: { broken: true }, program })(contextOf());
    await expect(made).rejects.toMatchObject({
      message: expect.stringMatching(/chart: helm refuses it: .*broken on purpose/s),
      code: 'addon.chart',
    });
    const old = contextOf({
      cluster: { metadata: { name: 'c' }, status: { version: { kubernetes: 'v1.10.0' } } },
    });
    await expect(helmChart(CHART, { program })(old)).rejects.toThrow('kubeVersion: >= 1.20.0-0');
  });
});

describe('a Helm chart', () => {
  /** A program in the place of helm. */
  function fake(script: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'fake-helm-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'helm');
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  it('needs the program, and says where it is found', async () => {
    await expect(helmChart(CHART, { program: '/no/such/helm' })(contextOf())).rejects.toMatchObject({
      code: 'addon.helm-missing',
      message: expect.stringContaining('cannot be rendered, because there is no program /no/such/helm'),
      hint: expect.stringContaining('https://helm.sh/docs/intro/install'),
    });
  });

  it('needs a folder with a chart, when the add-on is defined', () => {
    expect(() => helmChart(import.meta.dirname)).toThrow('has no Chart.yaml');
  });

  it('ends a program that takes too long, or that nobody waits for any more', async () => {
    const slow = fake('exec sleep 600');
    await expect(helmChart(CHART, { program: slow, timeoutMs: 50 })(contextOf())).rejects.toThrow(
      'helm has not rendered it within 0.05 s',
    );
    const stop = new AbortController();
    const made = helmChart(CHART, { program: slow })(contextOf({ signal: stop.signal }));
    setTimeout(() => stop.abort(new Error('enough')), 50);
    await expect(made).rejects.toThrow('enough');
    await expect(helmChart(CHART, { program: slow })(contextOf({ signal: stop.signal }))).rejects.toThrow(
      'enough',
    );
  });

  it('passes names and values without a shell', async () => {
    const program = fake(
      'for one in "$@"; do echo "# $one"; done\necho "apiVersion: v1\nkind: A\nmetadata: {name: a}"\nprintf "values: "\ncat',
    );
    const values = { text: '"; rm -rf $HOME' };
    const made = await helmChart(CHART, { program, values })(contextOf({ installNamespace: '$(id)' }));
    expect(made).toMatchObject([
      { kind: 'A', values: { text: values.text, addonInstallNamespace: '$(id)' } },
    ]);
  });

  it('refuses values that are not JSON', async () => {
    const made = helmChart(CHART, { values: { a: () => 1 } })(contextOf());
    await expect(made).rejects.toThrow('failed to normalize Helm values: a is no JSON, got function');
  });
});
