import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { hubHashOf } from '../../../packages/agent/src/start-agent.ts';
import { ImpersonatingClients } from '../../../packages/agent/src/agent-clients.ts';
import { startAgent, type Agent } from '@berth/agent/start-agent';
import { type RunningHub } from '@berth/embedded-hub/hub-options';
import { OCM_HUB } from '../../fakes/embedded-hub.ts';
import { startHub } from '@berth/embedded-hub/start-hub';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { deviations, meantDifferences, placeOfDifference } from './deviations.ts';
import { fastClock } from './fast-clock.ts';
import { RawClient } from './raw-client.ts';
import { HISTORIES, SETUP_OBJECTS } from './recorded.ts';
import { replay, type StepResult } from './replay.ts';
import { WEBHOOK_DEFINITION } from './webhook-definition.ts';

const ONLY = process.env['BERTH_HISTORY']?.split(',');
const CHOSEN = HISTORIES.filter(({ name }) => ONLY === undefined || ONLY.includes(name));

let hub: RunningHub;
let client: RawClient;
let agent: Agent;
let results: ReadonlyMap<string, Promise<readonly StepResult[]>>;
/** In the order in which they are to be undone. */
const closers: (() => unknown)[] = [];

/** `watch` is the default of the agent; the recorded agent does not watch for drift. */
async function startReplays(drift: 'watch' | 'resync'): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-agent-'));
  // No webhook stood in the way of the recorded works.
  hub = await startHub({ ...OCM_HUB, dataDir, admission: [] });
  const config = loadKubeConfig({ file: hub.adminKubeconfigPath });
  client = new RawClient(config);
  const clock = fastClock(4);
  const api = new HttpKubeApi({ config, clock });
  const executors = new ImpersonatingClients(config, clock);
  closers.push(
    () => client.close(),
    () => api.close(),
    () => executors.close(),
    () => hub.close(),
    () => rm(dataDir, { recursive: true, force: true }),
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
    drift,
    impersonate: (user) => executors.as(user),
  });
  await agent.whenSynced();
  const limit = pLimit(16);
  const hash = hubHashOf(api.server);
  results = new Map(
    CHOSEN.map(
      (history) =>
        [
          history.name,
          limit(() => replay(client, hash, history, meantDifferences(history.name, drift))),
        ] as const,
    ),
  );
}

async function prepare(): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cluster1' } };
  await client.send('POST', '/api/v1/namespaces', { body: namespace });
  for (const body of [...SETUP_OBJECTS, WEBHOOK_DEFINITION]) {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    expect((await client.send('POST', path, { body })).status).toBe(201);
  }
}

async function stopReplays(): Promise<void> {
  await Promise.allSettled(results.values());
  await agent?.close();
  for (const close of closers.splice(0)) await close();
}

describe.each(['resync', 'watch'] as const)('histories of the recorded work agent, drift: %s', (drift) => {
  beforeAll(() => startReplays(drift));
  afterAll(stopReplays);

  it.each(CHOSEN.map(({ name, about }) => ({ name, about })))('$name: $about', async ({ name }) => {
    const meant = new Set(meantDifferences(name, drift));
    const found = ((await results.get(name)) ?? []).flatMap(({ step, differences }) =>
      differences.map((text) => ({ text, place: `${step} ${placeOfDifference(name, text)}` })),
    );
    expect(found.filter(({ place }) => !meant.has(place)).map(({ text }) => text)).toEqual([]);
    const seen = new Set(found.map(({ place }) => place));
    expect([...meant].filter((place) => !seen.has(place))).toEqual([]);
  });
});

describe('deviations', () => {
  it('name histories that are recorded', () => {
    const known = new Set(HISTORIES.map(({ name }) => name));
    expect(deviations('watch').filter(({ history }) => !known.has(history))).toEqual([]);
  });
});
