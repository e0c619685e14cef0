import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { NAMESPACE } from '@berth/kube/model/kinds';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { startEmbeddedHub } from '../fakes/embedded-hub.ts';
import { BerthProcess } from './berth-process.ts';

let dir: string;
let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
let agent: BerthProcess | undefined;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'berth-agent-health-'));
  hub = await startEmbeddedHub({}, { members: ['edge'] });
});
afterEach(async () => {
  await agent?.stop();
  await hub.close();
  rmSync(dir, { recursive: true, force: true });
});

it('the probes of an agent tell a process that works from one whose API servers are gone', async () => {
  await hub.api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'edge' } });
  const kubeconfigs = [
    '--hub-kubeconfig',
    hub.kubeconfig,
    '--kubeconfig',
    hub.hub.memberKubeconfigPath('edge'),
  ];
  const started = new BerthProcess([
    ...['agent', '--cluster-name', 'edge', ...kubeconfigs],
    ...['--health-listen', '127.0.0.1:0'],
  ]);
  agent = started;
  const url = () => /"listen":"([^"]+)"/.exec(started.text)?.[1];
  await expect.poll(url, { timeout: PATIENCE_MS }).toBeDefined();
  const ask = async (path: string) => {
    const response = await fetch(`${url() ?? ''}${path}`);
    return `${response.status} ${await response.text()}`;
  };
  await expect.poll(() => ask('/readyz'), { timeout: PATIENCE_MS }).toBe('200 ok\n');
  expect(await ask('/elsewhere')).toBe('404 expected /healthz or /readyz\n');
  await hub.close();
  await expect
    .poll(() => ask('/readyz'), { timeout: PATIENCE_MS })
    .toMatch(/^503 not ready\nedge: the API server https:\S+ has not answered for \d+ s\n$/);
  expect(await ask('/healthz')).toBe('200 ok\n');
});
