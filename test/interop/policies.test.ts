import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allPolicyScenarios, POLICY_RECORDING } from '../conformance/hub/policies/all-policy-scenarios.ts';
import {
  BINDINGS,
  binding,
  checks,
  POLICIES,
  policy,
  RULE,
} from '../conformance/hub/policies/policy-scenario.ts';
import {
  readRecordedScenarios,
  writeRecordedScenarios,
} from '../conformance/hub/webhooks/recorded-scenarios.ts';
import type { ScenarioServer, StepResult } from '../conformance/hub/webhooks/scenario.ts';
import { CONFIGURATION, runScenario } from '../conformance/hub/webhooks/scenario.ts';
import type { HookServer } from '../fakes/hook-server.ts';
import { startHookServer } from '../fakes/hook-server.ts';
import type { ApiClient } from './peers/api-client.ts';
import { apiClient } from './peers/api-client.ts';
import type { ControlPlane } from './peers/control-plane.ts';
import { CONTROL_PLANE_PROGRAMS, startControlPlane } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';
import { sampled } from './sampled.ts';

/** A kube-apiserver looks for changed policies once a second. */
const SETTLE_MS = 1_700;
/** Between requests, so that one which is sent until a server answers well does not fill it. */
const PACE_MS = 10;
/** kube-apiserver reads ConfigMaps no more once the last policy is gone that has them as parameters; this one stays. */
const KEEPER = policy(
  'keeper',
  { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, ...checks('true') },
  { resourceRules: [{ ...RULE, resources: ['nothing'] }] },
);
/** Only what is compared here: nothing else may change the objects. */
const FLAGS = ['--disable-admission-plugins=ServiceAccount'];

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))('admission policies of a real kube-apiserver', () => {
  let real: ControlPlane;
  let hook: HookServer;
  let server: ScenarioServer;
  const users: ApiClient[] = [];
  const recorded = readRecordedScenarios(POLICY_RECORDING);
  const updated: Record<string, readonly StepResult[]> = {};

  beforeAll(async () => {
    [real, hook] = [await startControlPlane(FLAGS), await startHookServer()];
    let settledAtMs = 0;
    const patient = (client: ApiClient): ApiClient => ({
      call: async (method, path, body, type) => {
        const waitMs = CONFIGURATION.test(path.split('?')[0] ?? '') ? 0 : settledAtMs - Date.now();
        // fixed wait: the server reads policies in the background and does not say when
        await pause(Math.max(PACE_MS, waitMs));
        return client.call(method, path, body, type);
      },
      close: () => client.close(),
    });
    await real.client.call('POST', POLICIES, KEEPER);
    await real.client.call('POST', BINDINGS, binding('keeper', 'keeper'));
    server = {
      ...real,
      client: patient(real.client),
      clientOf: (user) => {
        const client = apiClient(real, user);
        users.push(client);
        return patient(client);
      },
      settled: () => {
        settledAtMs = Date.now() + SETTLE_MS;
        return Promise.resolve();
      },
    };
  });
  afterAll(async () => {
    if (process.env['UPDATE_GOLDEN'] === '1')
      writeRecordedScenarios(POLICY_RECORDING, { ...recorded, ...updated });
    for (const client of users) client.close();
    await real?.stop();
    await hook?.close();
  });

  it.each(sampled(allPolicyScenarios()))('$name', async (scenario) => {
    const results = await runScenario(server, hook, scenario);
    updated[scenario.name] = results;
    if (process.env['UPDATE_GOLDEN'] !== '1') expect(results).toEqual(recorded[scenario.name]);
  });
});
