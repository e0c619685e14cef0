import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordedStep } from '../conformance/kubeconfig/case.ts';
import { ALL_CASES, askWith, readRecorded, writeRecorded } from '../conformance/kubeconfig/kubectl.ts';
import {
  type Choice,
  PROXY_CHOICES,
  readChoices,
  writeChoices,
} from '../../packages/kube/test/conformance/kubeconfig/proxy-choices.ts';
import { KubeconfigWorld } from '../conformance/kubeconfig/world.ts';
import { hasKubectl, plainKubectl } from './kubectl-program.ts';

/** What kubectl says is not compared: the words change between its versions. */
const withoutWords = (steps: readonly RecordedStep[] | undefined) =>
  steps?.map((step) => ({ ...step, says: undefined }));

const renews = process.env['UPDATE_GOLDEN'] === '1';

/** Each of them starts a kubectl, or several: a fourth of them is played, and all where they are recorded. */
function someOf<T>(all: readonly T[]): readonly T[] {
  return renews ? all : all.filter((_, at) => at % 4 === 0);
}

/** `UPDATE_GOLDEN=1` records. */
describe.skipIf(!hasKubectl(31))('kubectl still sends what was recorded', () => {
  const recorded: Record<string, readonly RecordedStep[]> = {};
  let world: KubeconfigWorld;
  beforeAll(async () => {
    world = await KubeconfigWorld.start();
  });
  afterAll(async () => {
    await world.close();
    // With `-t` only some of them are played.
    if (renews && Object.keys(recorded).length === ALL_CASES.length) writeRecorded(recorded);
  });

  it.each(someOf(ALL_CASES))('$name', async (given) => {
    const steps = await world.play(given, askWith(plainKubectl()));
    recorded[given.name] = steps;
    if (!renews) expect(withoutWords(steps)).toEqual(withoutWords(readRecorded()[given.name]));
  });

  it('and chooses the recorded proxies', async () => {
    const ask = askWith(plainKubectl(), '--request-timeout=1s');
    const choices: Choice[] = [];
    for (const { server, env } of someOf(PROXY_CHOICES)) {
      const name = `${server} ${JSON.stringify(env)}`;
      const [step] = await world.play({ name, cluster: { server }, user: { token: 's3cret' }, env }, ask);
      const used = step?.proxies[0]?.proxy;
      choices.push(used === 'http' || used === 'socks5' ? used : 'direct');
    }
    if (renews) writeChoices(choices);
    else expect(choices).toEqual(someOf(readChoices()));
  });
});
