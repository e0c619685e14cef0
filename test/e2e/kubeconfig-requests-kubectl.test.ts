import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordedStep } from '../conformance/kubeconfig/case.ts';
import { ALL_CASES, askWith, readRecorded, writeRecorded } from '../conformance/kubeconfig/kubectl.ts';
import { KubeconfigWorld } from '../conformance/kubeconfig/world.ts';
import { hasKubectl, plainKubectl } from './kubectl-program.ts';

/** What kubectl says is not compared: the words change between its versions. */
const withoutWords = (steps: readonly RecordedStep[] | undefined) =>
  steps?.map((step) => ({ ...step, says: undefined }));

/** `UPDATE_GOLDEN=1` records. */
describe.skipIf(!hasKubectl(31))('kubectl still sends what was recorded', () => {
  const renews = process.env['UPDATE_GOLDEN'] === '1';
  const recorded: Record<string, readonly RecordedStep[]> = {};
  let world: KubeconfigWorld;
  beforeAll(async () => {
    world = await KubeconfigWorld.start();
  });
  afterAll(async () => {
    await world.close();
    if (renews) writeRecorded(recorded);
  });

  it.each(ALL_CASES)('$name', async (given) => {
    const steps = await world.play(given, askWith(plainKubectl()));
    recorded[given.name] = steps;
    if (!renews) expect(withoutWords(steps)).toEqual(withoutWords(readRecorded()[given.name]));
  });
});
