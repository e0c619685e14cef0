import { describe, expect, it } from 'vitest';
import { APPLIED_MANIFEST_WORK, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { AgentHarness, CONFIG_MAP, configMap, workOf } from '../../packages/agent/test/agent-harness.ts';
import { type Life, MortalKubeApi } from '@berth/test-kit/mortal-kube-api';

// A life of every kind of step, played once for each write in it: the agent is killed at that write, done or not, and a new one
// goes on. After every phase the harness must be as if nobody had died.

const GRACE_MS = 600_000;

class Play {
  readonly harness = new AgentHarness();
  readonly #first: Life;
  #died = false;

  constructor(diesAtWrite: number, lastIsDone: boolean) {
    this.#first = { dead: false, writesLeft: diesAtWrite, lastIsDone };
  }

  get died(): boolean {
    return this.#died;
  }

  /** Writes of the first agent. */
  get writesLeft(): number {
    return this.#first.writesLeft;
  }

  async start(): Promise<void> {
    await this.#startAgent(this.#first);
  }

  async settle(forMs = 20_000): Promise<void> {
    for (let part = 0; part < 10; part++) {
      await this.harness.clock.advance(forMs / 10);
      if (!this.#first.dead || this.#died) continue;
      this.#died = true;
      await this.#startAgent({ dead: false, writesLeft: Infinity, lastIsDone: false });
    }
  }

  async #startAgent(life: Life): Promise<void> {
    const { hub, cluster } = this.harness;
    await this.harness.start({
      hub: new MortalKubeApi(hub, life),
      cluster: new MortalKubeApi(cluster, life),
      evictionGraceMs: GRACE_MS,
    });
  }

  async put(name: string, spec: ManifestWorkSpec): Promise<void> {
    const { hub } = this.harness;
    const existing = await hub.get(MANIFEST_WORK, { namespace: 'cluster1', name });
    const work = {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'ManifestWork',
      metadata: { namespace: 'cluster1', name },
      spec,
    } as unknown as KubeObject;
    if (existing === undefined) await hub.create(MANIFEST_WORK, work);
    else await hub.update(MANIFEST_WORK, { ...existing, spec });
  }

  /** Everything that is there, as one text a line. */
  async picture(): Promise<readonly string[]> {
    const { hub, cluster } = this.harness;
    const objects = (await cluster.list(CONFIG_MAP)).items.map(
      ({ metadata, ...content }) =>
        `${metadata.name} ${JSON.stringify(content['data'])} of ${(metadata.ownerReferences ?? []).map(({ name }) => name.slice(65)).join()}`,
    );
    const applied = (await cluster.list(APPLIED_MANIFEST_WORK)).items.map(({ metadata, ...content }) => {
      const status = content['status'] as {
        appliedResources?: { name: string }[];
        evictionStartTime?: string;
      };
      const resources = (status.appliedResources ?? []).map(({ name }) => name).join();
      return `applied ${metadata.name.slice(65)}: ${resources}${status.evictionStartTime === undefined ? '' : ' evicting'}`;
    });
    const works = (await hub.list(MANIFEST_WORK)).items.map(({ metadata, ...content }) => {
      const status = content['status'] as {
        conditions?: { type: string; status: string; observedGeneration: number }[];
      };
      const conditions = (status?.conditions ?? []).map(
        (c) => `${c.type}=${c.status}@${c.observedGeneration}`,
      );
      return `work ${metadata.name}: ${conditions.join(' ')}`;
    });
    return [...objects, ...applied, ...works].sort();
  }
}

const SERVER_SIDE: ManifestWorkSpec['manifestConfigs'] = [
  {
    resourceIdentifier: { resource: 'configmaps', name: '*', namespace: '*' },
    updateStrategy: { type: 'ServerSideApply' },
  },
];

interface Phase {
  readonly name: string;
  readonly does: (play: Play) => Promise<unknown>;
  readonly lastsMs?: number;
  /** What is there afterwards, in order. */
  readonly leaves: readonly string[];
}

const key = (name: string) => ({ namespace: 'cluster1', name });
const map = (name: string) => ({ namespace: 'default', name });
const ready = (name: string, generation: number): string =>
  `work ${name}: Applied=True@${generation} Available=True@${generation}`;

const A = 'a {"x":"2"} of web';
const C = 'c {"x":"1"} of ssa';
const D = 'd {"x":"1"} of web';
const ORPHAN = 'e {"x":"1"} of ';
const SSA = 'applied ssa: c';
const WEB = 'applied web: a,d';
const SECOND = 'applied second: a,e';
const SETTLED = [A, SSA, WEB, C, D, ready('ssa', 1), ready('web', 2)];
const ORPHANED = [A, SECOND, SSA, WEB, C, D, ORPHAN, ready('second', 2), ready('ssa', 1), ready('web', 2)];

const PHASES: readonly Phase[] = [
  {
    name: 'works come',
    does: async (play) => {
      await play.put('web', workOf(configMap('a'), configMap('b')));
      await play.put('ssa', { ...workOf(configMap('c')), manifestConfigs: SERVER_SIDE });
    },
    leaves: [
      'a {"x":"1"} of web',
      SSA,
      'applied web: a,b',
      'b {"x":"1"} of web',
      C,
      ready('ssa', 1),
      ready('web', 1),
    ],
  },
  {
    name: 'one object changes, one leaves, one comes',
    does: (play) => play.put('web', workOf(configMap('a', { x: '2' }), configMap('d'))),
    leaves: SETTLED,
  },
  {
    name: 'somebody changes one object and deletes another',
    does: async ({ harness: { cluster } }) => {
      await cluster.mergePatch(CONFIG_MAP, map('a'), { data: { x: 'drift' } });
      await cluster.delete(CONFIG_MAP, map('d'));
    },
    leaves: SETTLED,
  },
  {
    name: 'two works share an object',
    does: (play) => play.put('second', workOf(configMap('a', { x: '2' }), configMap('e'))),
    leaves: [
      'a {"x":"2"} of web,second',
      SECOND,
      SSA,
      WEB,
      C,
      D,
      'e {"x":"1"} of second',
      ready('second', 1),
      ready('ssa', 1),
      ready('web', 2),
    ],
  },
  {
    name: 'objects are orphaned',
    does: (play) =>
      play.put('second', {
        ...workOf(configMap('a', { x: '2' }), configMap('e')),
        deleteOption: { propagationPolicy: 'Orphan' },
      }),
    leaves: ORPHANED,
  },
  {
    name: 'an applied work is deleted by hand',
    does: async ({ harness: { cluster } }) => {
      const { items } = await cluster.list(APPLIED_MANIFEST_WORK);
      const name = items.find(({ metadata }) => metadata.name.endsWith('-ssa'))?.metadata.name ?? '';
      await cluster.delete(APPLIED_MANIFEST_WORK, { namespace: '', name });
    },
    leaves: ORPHANED,
  },
  {
    name: 'a work vanishes and comes back',
    does: async (play) => {
      await vanish(play, 'ssa');
      await play.settle(60_000);
      await play.put('ssa', { ...workOf(configMap('c')), manifestConfigs: SERVER_SIDE });
    },
    leaves: ORPHANED,
  },
  {
    name: 'a work vanishes for good',
    does: (play) => vanish(play, 'ssa'),
    lastsMs: 2 * GRACE_MS,
    leaves: [A, SECOND, WEB, D, ORPHAN, ready('second', 2), ready('web', 2)],
  },
  {
    name: 'works are deleted',
    does: async ({ harness: { hub } }) => {
      await hub.delete(MANIFEST_WORK, key('web'));
      await hub.delete(MANIFEST_WORK, key('second'));
    },
    leaves: [ORPHAN],
  },
];

async function vanish({ harness: { hub } }: Play, name: string): Promise<void> {
  await hub.mergePatch(MANIFEST_WORK, key(name), { metadata: { finalizers: [] } });
  await hub.delete(MANIFEST_WORK, key(name));
}

/** @returns what was there after each phase */
async function perform(play: Play): Promise<readonly (readonly string[])[]> {
  await play.start();
  const pictures: (readonly string[])[] = [];
  for (const { does, lastsMs } of PHASES) {
    await does(play);
    await play.settle(lastsMs);
    pictures.push(await play.picture());
  }
  await play.harness.stop();
  return pictures;
}

const undisturbed = new Play(1_000, false);
const seen = await perform(undisturbed);
const writes = 1_000 - undisturbed.writesLeft;

const expectWanted = (pictures: readonly (readonly string[])[], about: object): void => {
  for (const [index, { name, leaves }] of PHASES.entries())
    expect({ ...about, phase: name, picture: pictures[index] }).toEqual({
      ...about,
      phase: name,
      picture: leaves,
    });
};

describe(`an agent that dies at one of its ${writes} writes`, () => {
  it('does all of this when it lives', () => {
    expectWanted(seen, {});
    expect(writes).toBeGreaterThan(30);
  });

  it.each(Array.from({ length: writes }, (_, index) => index + 1))(
    'number %i, before and after it is done',
    async (at) => {
      for (const lastIsDone of [false, true]) {
        const play = new Play(at, lastIsDone);
        expectWanted(await perform(play), { lastIsDone });
        expect(play.died).toBe(true);
      }
    },
  );
});
