import { X509Certificate } from 'node:crypto';
import { type Life, MortalKubeApi } from '@berth/test-kit/mortal-kube-api';
import { seeded, seedsFrom } from '@berth/test-kit/seeded-random';
import { describe, expect, it } from 'vitest';
import { AddonWorld, hubClient } from './addon-harness.ts';

const SIGNER = 'example.com/agents';
const NAMES = ['helloworld-hub-kubeconfig', 'helloworld-example.com-agents-client-cert'] as const;
const BOTH = [hubClient(), { signerName: SIGNER, subject: { user: 'u' } }];
const CHANGED = [hubClient('helloworld', { user: 'other' })];
const NEVER = { dead: false, writesLeft: Infinity, lastIsDone: true };

interface Death {
  readonly at: number;
  readonly lastIsDone: boolean;
}

/** An add-on that is registered, changed and removed, with an agent that is killed and started again. */
class Story {
  readonly world = new AddonWorld();
  readonly #lives: Life[];

  constructor(deaths: readonly Death[]) {
    this.#lives = deaths.map(({ at, lastIsDone }) => ({ dead: false, writesLeft: at, lastIsDone }));
  }

  get #life(): Life {
    return this.#lives[0] ?? NEVER;
  }

  get writesLeft(): number {
    return this.#life.writesLeft;
  }

  async start(): Promise<void> {
    await this.world.start({}, (api) => new MortalKubeApi(api, this.#life));
  }

  /** The manager and the hub act, time passes, and a dead agent is started again. */
  async pass(): Promise<void> {
    for (let round = 0; round < 6; round++) {
      await this.world.sign();
      if (!this.#life.dead) continue;
      this.#lives.shift();
      await this.start();
    }
  }

  /** @returns how many certificates the hub issued so far, and the users of those in the Secrets */
  async state(): Promise<unknown> {
    const files = await Promise.all(NAMES.map((name) => this.world.files(name)));
    const users = files.map(
      (one) => one && /CN=(.*)/.exec(new X509Certificate(one['tls.crt'] ?? '').subject)?.[1],
    );
    const condition = await this.world.condition('helloworld', 'ClusterCertificateRotated');
    return { users, condition: condition?.split(':')[0], requests: (await this.world.requests()).length };
  }

  async tell(): Promise<readonly unknown[]> {
    const states: unknown[] = [];
    await this.start();
    await this.world.addAddon('helloworld', { registrations: BOTH });
    await this.pass();
    states.push(await this.state());
    await this.world.setStatus('helloworld', { registrations: CHANGED });
    await this.pass();
    states.push(await this.state());
    await this.world.deleteAddon('helloworld');
    await this.pass();
    states.push(await this.state());
    return states;
  }
}

const rotated = 'True ClientCertificateUpdated';
const user = hubClient().subject?.user;
const WANT = [
  { users: [user, 'u'], condition: rotated, requests: 2 },
  { users: ['other', undefined], condition: rotated, requests: 3 },
  { users: [undefined, undefined], condition: undefined, requests: 3 },
];

async function countWrites(): Promise<number> {
  const story = new Story([{ at: 1_000, lastIsDone: true }]);
  await story.tell();
  return 1_000 - story.writesLeft;
}

describe('an agent that is killed at a write for an add-on', () => {
  it('tells this story when nobody kills it', async () => {
    expect(await new Story([]).tell()).toEqual(WANT);
  });

  it.each([true, false])(
    'ends in the same states, each certificate issued once; the write was done: %s',
    async (lastIsDone) => {
      const count = await countWrites();
      expect(count).toBeGreaterThanOrEqual(15);
      for (let at = 1; at <= count; at++)
        expect({ at, states: await new Story([{ at, lastIsDone }]).tell() }).toEqual({ at, states: WANT });
    },
  );

  it.each([...seedsFrom(0, 12)])('again and again, seed %i', async (seed) => {
    const random = seeded(seed);
    const deaths = Array.from({ length: 4 }, () => ({
      at: 1 + Math.floor(5 * random()),
      lastIsDone: random() < 0.5,
    }));
    expect(await new Story(deaths).tell()).toEqual(WANT);
  });
});
