import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { errorForStatus, type KubeStatus } from '@berth/kube/transport/kube-errors';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';
import { Fleet } from './work-fleet.ts';

/** What an API server answers to a create in such a namespace. */
const ANSWERS = {
  'is missing': {
    code: 404,
    reason: 'NotFound',
    message: 'namespaces "c2" not found',
    details: { name: 'c2', kind: 'namespaces' },
  },
  'is being deleted': {
    code: 403,
    reason: 'Forbidden',
    message: 'unable to create new content in namespace c2 because it is being terminated',
    details: { kind: 'manifestworks', causes: [{ reason: 'NamespaceTerminating' }] },
  },
} as const;
type Answer = (typeof ANSWERS)[keyof typeof ANSWERS];

/** A hub without the namespace of c2. */
class WithoutNamespace extends InterceptedKubeApi {
  answer: Answer | undefined;
  attempts = 0;

  protected override write<T>(request: () => Promise<T>): Promise<T> {
    return request();
  }

  override async create(kind: KindInfo, object: KubeObject): Promise<KubeObject> {
    if (object.metadata.namespace === 'c2') {
      this.attempts += 1;
      const request = { method: 'POST', path: kind.plural };
      if (this.answer !== undefined)
        throw errorForStatus(this.answer.code, { kind: 'Status', ...this.answer } as KubeStatus, request);
    }
    return this.inner.create(kind, object);
  }
}

describe.each(Object.keys(ANSWERS) as (keyof typeof ANSWERS)[])('a cluster whose namespace %s', (name) => {
  let fleet: Fleet;
  let hub: WithoutNamespace;
  beforeEach(async () => {
    fleet = new Fleet();
    hub = new WithoutNamespace(fleet.hub);
    hub.answer = ANSWERS[name];
    await fleet.start(hub);
    await fleet.place('all', ['c1', 'c2']);
    await fleet.replicaSet('1');
    await fleet.settle();
  });
  afterEach(() => fleet.stop());
  /** Of the log, without those for developers. */
  const lines = (): readonly string[] =>
    fleet.log.entries.flatMap(({ level, message }) => (level === 'debug' ? [] : [message]));

  it('is one line in the log, waits ever longer whatever other clusters report, and gets its work in the end', async () => {
    for (let report = 0; report < 100; report++) {
      await fleet.report(['c1'], { Applied: report % 2 === 0 ? 'True' : 'False' });
      await fleet.settle(1_000);
    }
    expect(await fleet.contents()).toEqual({ c1: '1' });
    expect(lines()).toEqual(['cluster has no namespace on the hub, so nothing is made for it until it has']);
    // In 200 s: 1, 2, 4, 8, 16 and then 30 s, each less up to half.
    expect(hub.attempts).toBeLessThanOrEqual(20);
    expect(fleet.errors).toEqual([]);
    expect(fleet.warnings()).toEqual([
      'works: no namespace on the hub, so nothing is made for them until they are accepted: c2',
    ]);
    expect((await fleet.conditions())['ManifestworkApplied']).toBe('False NotAsExpected');
    hub.answer = undefined;
    await fleet.settle(30_000);
    expect(await fleet.contents()).toEqual({ c1: '1', c2: '1' });
    expect(fleet.warnings()).toEqual([]);
  });

  it('stops no other cluster, and takes no work away', async () => {
    await fleet.place('all', ['c2', 'c3']);
    await fleet.settle(60_000);
    expect(await fleet.contents()).toEqual({ c1: '1', c3: '1' });
    hub.answer = undefined;
    await fleet.settle(30_000);
    expect(await fleet.contents()).toEqual({ c2: '1', c3: '1' });
  });
});
