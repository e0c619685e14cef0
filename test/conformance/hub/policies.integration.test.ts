import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HookServer } from '../../fakes/hook-server.ts';
import { startHookServer } from '../../fakes/hook-server.ts';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import type { ApiClient } from '../../interop/peers/api-client.ts';
import { apiClient } from '../../interop/peers/api-client.ts';
import { ALLOWED_POLICY_DIFFERENCES } from './policies/allowed-policy-differences.ts';
import { allPolicyScenarios, POLICY_RECORDING } from './policies/all-policy-scenarios.ts';
import { readRecordedScenarios } from './webhooks/recorded-scenarios.ts';
import type { ScenarioServer } from './webhooks/scenario.ts';
import { runScenario } from './webhooks/scenario.ts';

describe('admission policies as a kube-apiserver keeps them', () => {
  const recorded = readRecordedScenarios(POLICY_RECORDING);
  const clients: ApiClient[] = [];
  let hub: TestHub;
  let hook: HookServer;
  let server: ScenarioServer;

  beforeAll(async () => {
    [hub, hook] = [await startTestHub({ controllers: false }), await startHookServer()];
    const address = { url: hub.hub.url, token: hub.token, caPem: hub.hub.caPem };
    const client = (user?: string): ApiClient => {
      const one = apiClient(address, user);
      clients.push(one);
      return one;
    };
    server = { ...address, client: client(), clientOf: client, settled: () => Promise.resolve() };
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await hub?.stop();
    await hook?.close();
  });

  it('has enough to compare', () => {
    expect(Object.keys(recorded).length).toBeGreaterThanOrEqual(120);
  });

  it.each(allPolicyScenarios())('$name', async (scenario) => {
    const results = await runScenario(server, hook, scenario);
    const wanted = (recorded[scenario.name] ?? []).map((want, index) => ({
      ...want,
      ...ALLOWED_POLICY_DIFFERENCES[scenario.name]?.[index]?.answer,
    }));
    expect(results).toEqual(wanted);
  });
});
