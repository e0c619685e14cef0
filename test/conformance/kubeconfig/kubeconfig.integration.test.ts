import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { KubeConnection } from '../../../packages/kube/src/transport/kube-connection.ts';
import { readBody } from '../../../packages/kube/src/transport/response-body.ts';
import { BerthError } from '@berth/runtime/errors';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { SteeredClock } from '../../fakes/steered-clock.ts';
import type { KubeconfigRequestCase, RecordedStep } from './case.ts';
import { ALL_CASES, readRecorded } from './kubectl.ts';
import { type Ask, KubeconfigWorld } from './world.ts';

const A_MINUTE_MS = 61_000;
const REQUEST = { method: 'GET', path: '/version' };

const withoutWords = (steps: readonly RecordedStep[] | undefined) =>
  steps?.map((step) => ({ ...step, says: undefined }));

/** One client that goes on, while kubectl is started again for each request. */
class BerthClient {
  readonly errors: unknown[] = [];
  readonly #clock = new SteeredClock();
  #connection: KubeConnection | undefined;

  readonly ask: Ask = async (env, step) => {
    try {
      this.#connection ??= new KubeConnection({
        config: loadKubeConfig({ env }),
        clock: this.#clock,
        requestTimeoutMs: PATIENCE_MS,
        userAgent: 'berth',
        impersonate: undefined,
      });
      if (step > 0) this.#clock.skip(A_MINUTE_MS);
      const response = await this.#connection.open(REQUEST);
      await readBody(response, REQUEST, PATIENCE_MS);
      return response.statusCode === 200 ? undefined : `answered ${response.statusCode}`;
    } catch (error) {
      this.errors.push(error);
      return (error as Error).message;
    }
  };

  close(): void {
    this.#connection?.close();
  }
}

/** All that a log may show of an error. */
function allOf(error: unknown): string {
  return inspect(error, { depth: 6 });
}

describe('a client sends what kubectl sends', () => {
  const recorded = readRecorded();
  let world: KubeconfigWorld;
  beforeAll(async () => {
    world = await KubeconfigWorld.start();
  });
  afterAll(() => world.close());

  const expected = ({ name, differs }: KubeconfigRequestCase) => differs?.steps ?? recorded[name];

  it.each(ALL_CASES)('$name', async (given) => {
    const client = new BerthClient();
    try {
      const steps = await world.play(given, client.ask);
      expect(withoutWords(steps)).toEqual(withoutWords(expected(given)));
      for (const { says } of steps) if (says !== undefined) expect(says).toContain(given.says ?? '(nothing)');
      for (const error of client.errors) {
        expect(error).toBeInstanceOf(BerthError);
        expect(allOf(error)).not.toMatch(/s3cret/);
      }
    } finally {
      client.close();
    }
  });

  it('in every recorded case', () => {
    expect(ALL_CASES.map(({ name }) => name).sort()).toEqual(Object.keys(recorded).sort());
    expect(ALL_CASES.length).toBeGreaterThan(100);
  });
});
