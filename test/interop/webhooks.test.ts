import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allScenarios } from '../conformance/hub/webhooks/all-scenarios.ts';
import type { HookServer } from '../fakes/hook-server.ts';
import { startHookServer } from '../fakes/hook-server.ts';
import {
  readRecordedScenarios,
  WEBHOOK_RECORDING,
  writeRecordedScenarios,
} from '../conformance/hub/webhooks/recorded-scenarios.ts';
import type { ScenarioServer, StepResult } from '../conformance/hub/webhooks/scenario.ts';
import { runScenario } from '../conformance/hub/webhooks/scenario.ts';
import type { ControlPlane } from './peers/control-plane.ts';
import { CONTROL_PLANE_PROGRAMS, startControlPlane } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';
import { sampled } from './sampled.ts';

const SETTLE_MS = 1_000;
/** Only what is compared here: nothing else may change the objects. */
const FLAGS = ['--disable-admission-plugins=ServiceAccount'];

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))('webhooks of a real kube-apiserver', () => {
  let real: ControlPlane;
  let hook: HookServer;
  const recorded = readRecordedScenarios(WEBHOOK_RECORDING);
  const updated: Record<string, readonly StepResult[]> = {};

  beforeAll(async () => {
    [real, hook] = [await startControlPlane(FLAGS), await startHookServer()];
  });
  afterAll(async () => {
    if (process.env['UPDATE_GOLDEN'] === '1')
      writeRecordedScenarios(WEBHOOK_RECORDING, { ...recorded, ...updated });
    await real?.stop();
    await hook?.close();
  });

  it.each(sampled(allScenarios()))('$name', async (scenario) => {
    // fixed wait: the server reads definitions and configurations in the background and does not say when
    const settled = (): Promise<void> => pause(SETTLE_MS);
    const server: ScenarioServer = { ...real, settled };
    const results = await runScenario(server, hook, scenario);
    updated[scenario.name] = results;
    if (process.env['UPDATE_GOLDEN'] !== '1') expect(results).toEqual(recorded[scenario.name]);
  });
});
