import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpKubeApi } from '../../../src/adapters/kube/http-kube-api.ts';
import { loadKubeConfig } from '../../../src/adapters/kube/load-kube-config.ts';
import { hubHashOf } from '../../../src/app/agent/agent-settings.ts';
import { ImpersonatingClients } from '../../../src/app/agent/impersonating-clients.ts';
import { startAgent, type Agent } from '../../../src/app/agent/start-agent.ts';
import { type RunningHub } from '../../../src/hub/hub-options.ts';
import { startHub } from '../../../src/hub/start-hub.ts';
import { SilentLogger } from '../../fakes/silent-logger.ts';
import { deviations } from './deviations.ts';
import { fastClock } from './fast-clock.ts';
import { RawClient } from './raw-client.ts';
import { HISTORIES, SETUP_OBJECTS } from './recorded.ts';
import { replay, type StepResult } from './replay.ts';

const ONLY = process.env['BERTH_HISTORY']?.split(',');
/** `watch` is the default of the agent, but the recorded agent does not watch for drift. */
const DRIFT = process.env['BERTH_DRIFT'] === 'watch' ? 'watch' : 'resync';
const CHOSEN = HISTORIES.filter(({ name }) => ONLY === undefined || ONLY.includes(name));

let dataDir: string;
let hub: RunningHub;
let client: RawClient;
let agent: Agent;
const closers: (() => void)[] = [];
const results = new Map<string, Promise<readonly StepResult[]>>();

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'berth-agent-'));
  // No webhook stood in the way of the recorded works.
  hub = await startHub({ dataDir, admission: [] });
  const config = loadKubeConfig({ file: hub.adminKubeconfigPath });
  client = new RawClient(config);
  const clock = fastClock(4);
  const api = new HttpKubeApi({ config, clock });
  const executors = new ImpersonatingClients(config, clock);
  closers.push(
    () => client.close(),
    () => api.close(),
    () => executors.close(),
  );
  await prepare();
  agent = startAgent({
    hub: api,
    cluster: api,
    clusterName: 'cluster1',
    agentId: 'agent1',
    clock,
    log: new SilentLogger(),
    statusSyncIntervalMs: 1_000,
    drift: DRIFT,
    impersonate: (user) => executors.as(user),
  });
  await agent.whenSynced();
  const limit = pLimit(16);
  const hash = hubHashOf(api.server);
  for (const history of CHOSEN)
    results.set(
      history.name,
      limit(() => replay(client, hash, history)),
    );
}, 60_000);

async function prepare(): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cluster1' } };
  await client.send('POST', '/api/v1/namespaces', { body: namespace });
  for (const body of SETUP_OBJECTS) {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    expect((await client.send('POST', path, { body })).status).toBe(201);
  }
}

afterAll(async () => {
  await Promise.allSettled(results.values());
  await agent?.close();
  for (const close of closers) close();
  await hub?.close();
  await rm(dataDir, { recursive: true, force: true });
});

describe('histories of the recorded work agent', () => {
  it.each(CHOSEN.map(({ name, about }) => ({ name, about })))('$name: $about', async ({ name }) => {
    const found = await results.get(name);
    const excuses = deviations(DRIFT).filter(({ history }) => history === name);
    const used = new Set<unknown>();
    const left = (found ?? []).flatMap(({ step, differences }) =>
      differences
        .filter((text) => {
          const excuse = excuses.find(({ differences: pattern }) => pattern.test(text));
          if (excuse !== undefined) used.add(excuse);
          return excuse === undefined;
        })
        .map((text) => `step ${step}: ${text}`),
    );
    expect(left).toEqual([]);
    expect(excuses.filter((excuse) => excuse.server !== true && !used.has(excuse))).toEqual([]);
  });
});
