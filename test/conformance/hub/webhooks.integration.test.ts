import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient } from '../../interop/peers/api-client.ts';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { allScenarios } from './webhooks/all-scenarios.ts';
import { ALLOWED_DIFFERENCES } from './webhooks/allowed-differences.ts';
import type { HookServer } from '../../fakes/hook-server.ts';
import { startHookServer } from '../../fakes/hook-server.ts';
import { readRecordedScenarios, WEBHOOK_RECORDING } from './webhooks/recorded-scenarios.ts';
import type { ScenarioServer } from './webhooks/scenario.ts';
import { runScenario } from './webhooks/scenario.ts';

describe('webhooks as a kube-apiserver calls them', () => {
  const recorded = readRecordedScenarios(WEBHOOK_RECORDING);
  let hub: TestHub;
  let hook: HookServer;
  let server: ScenarioServer;

  beforeAll(async () => {
    [hub, hook] = [await startTestHub(), await startHookServer()];
    const address = { url: hub.hub.url, token: hub.token, caPem: hub.hub.caPem };
    server = { ...address, client: apiClient(address), settled: () => Promise.resolve() };
  });
  afterAll(async () => {
    server?.client.close();
    await hub?.stop();
    await hook?.close();
  });

  it.each(allScenarios())('$name', async (scenario) => {
    const results = await runScenario(server, hook, scenario);
    const wanted = (recorded[scenario.name] ?? []).map((want, index) => ({
      ...want,
      ...ALLOWED_DIFFERENCES[scenario.name]?.[index]?.answer,
    }));
    expect(results).toEqual(wanted);
  });
});
