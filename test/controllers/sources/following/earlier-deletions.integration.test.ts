import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SourceDeclarations } from '../../../../src/controllers/sources/progress/source-declarations.ts';
import type { SyncOutcome } from '../../../../src/controllers/sources/members/sync-problem.ts';
import { TransientError } from '@berth/runtime/errors';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi, ObjectKey } from '@berth/kube/model/kube-api';
import { startEmbeddedHub } from '../../../fakes/embedded-hub.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { hubSyncFor } from './hub-sync-fixture.ts';
import { interceptedApi } from './intercepted-api.ts';

const MINUTE = 60_000;

describe('deletions bit by bit', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  let clock: FakeClock;
  beforeEach(async () => {
    hub = await startEmbeddedHub();
    clock = new FakeClock();
  });
  afterEach(() => hub.close());

  const parentKey = { namespace: 'berth-system', name: 'berth-fleet' };
  const settings = (name: string, annotations: Record<string, string> = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'team-a', annotations },
  });
  /** A controller: `says` follows a commit that holds these and no others of twelve. */
  const controller = (over: Partial<Parameters<typeof hubSyncFor>[0]> = {}) => {
    const declarations = new SourceDeclarations(clock, [{ name: 'fleet', force: false }]);
    const sync = hubSyncFor({ api: hub.api, source: 'fleet', declarations, clock, ...over });
    return {
      says: (objects: readonly KubeObject[]): Promise<SyncOutcome> =>
        sync.sync({
          objects: objects.map((object) => ({ object, location: { file: 'a.yaml', line: 1, column: 1 } })),
          complete: true,
        }),
    };
  };
  const numbers = (from: number) => Array.from({ length: 12 - from }, (_, at) => from + at);
  const without = (...gone: number[]) =>
    numbers(0)
      .filter((n) => !gone.includes(n))
      .map((n) => settings(`c${n}`));
  const from = (first: number) => numbers(first).map((n) => settings(`c${n}`));
  const left = async () =>
    (await hub.api.list(CONFIG_MAP, { namespace: 'team-a' })).items
      .map(({ metadata }) => metadata.name)
      .filter((name) => /^c\d+$/.test(name)).length;
  const release = (code: string) =>
    hub.api.mergePatch(CONFIG_MAP, parentKey, { metadata: { annotations: { 'berth.dev/release': code } } });

  it('are held where all of them together are too many, and say so with the numbers and the way out', async () => {
    const { says } = controller();
    await says(from(0));
    for (const first of [1, 2, 3]) {
      expect(await says(from(first))).toMatchObject({ pruned: 1, pruneHeld: undefined });
      await clock.advance(MINUTE);
    }
    const { pruned, pruneHeld } = await says(from(4));
    const code = pruneHeld?.token ?? '';
    expect(pruned).toBe(0);
    expect(pruneHeld?.message).toBe(
      '1 of 9 objects left Git, after 3 that were deleted in the 10 minutes before (budget 3); these stay: ConfigMap team-a/c3. ' +
        'Deletions this close to each other count as one, and this hold does not expire: put what should stay back into Git. ' +
        `To approve this change, set the annotation berth.dev/release: "${code}" on an object of the source in Git (for example a namespace), ` +
        `or run: berth release --source fleet --token ${code}`,
    );
    expect(await left()).toBe(9);
  });

  it('stay held however long nobody looks, and in the next process, until they are released or back in Git', async () => {
    const { says } = controller();
    await says(from(0));
    await says(from(3));
    const { pruneHeld: first } = await says(from(4));
    await clock.advance(100 * MINUTE);
    expect((await says(from(4))).pruneHeld).toEqual(first);
    expect((await controller().says(from(4))).pruneHeld).toEqual(first);
    expect(await left()).toBe(9);
    // Back in Git, and all is as it was: what was deleted two hours ago does not count any more.
    expect((await says(from(3))).pruneHeld).toBeUndefined();
    expect(await says(from(4))).toMatchObject({ pruned: 1, pruneHeld: undefined });
  });

  it('begin again with a release, which covers what it names and nothing else', async () => {
    const { says } = controller();
    await says(from(0));
    await says(from(3));
    const code = (await says(from(4))).pruneHeld?.token ?? '';
    await release(code);
    expect((await says(from(5))).pruneHeld).toMatchObject({
      message: expect.stringContaining('2 of 9 objects left Git, after 3 ') as string,
    });
    expect(await says(from(4))).toMatchObject({ pruned: 1, released: { token: code } });
    expect(await says(from(6))).toMatchObject({ pruned: 2, pruneHeld: undefined });
    expect((await says(from(7))).pruneHeld?.message).toContain('1 of 6 objects left Git, after 2 ');
  });

  it('are as many as the budget allows in each window', async () => {
    const { says } = controller();
    await says(from(0));
    await says(from(3));
    await clock.advance(10 * MINUTE);
    expect(await says(from(5))).toMatchObject({ pruned: 2, pruneHeld: undefined });
    await clock.advance(9 * MINUTE);
    expect((await says(from(6))).pruneHeld?.message).toContain('1 of 7 objects left Git, after 2 ');
  });

  it('do not count once they are there again, under whatever version of their kind', async () => {
    const { says } = controller();
    await says(from(0));
    for (const gone of [0, 1, 2, 3, 4]) {
      await says(without(gone, gone + 1));
      await says(from(0));
    }
    expect(await says(without(7, 8, 9))).toMatchObject({ pruned: 3, pruneHeld: undefined });
    expect((await says(without(7, 8, 9, 10))).pruneHeld?.message).toContain('after 3 that');
  });

  it('do not count once another source declares them, also where they were the last of their kind', async () => {
    const declarations = new SourceDeclarations(clock, [
      { name: 'fleet', force: false },
      { name: 'apps', force: false },
    ]);
    const [fleet, apps] = [controller({ declarations }), controller({ declarations, source: 'apps' })];
    const secret = { ...settings('moved'), kind: 'Secret' };
    // A new object waits until every source was read.
    await Promise.all([apps.says([settings('own')]), fleet.says([...from(0), secret])]);
    expect(await fleet.says(from(0))).toMatchObject({ pruned: 1 });
    expect(await apps.says([settings('own'), secret])).toMatchObject({ applied: 1 });
    expect(await fleet.says(from(3))).toMatchObject({ pruned: 3 });
  });

  it('count where the hub did not let all of them go, and each of them once', async () => {
    let isBusy = true;
    const api = interceptedApi(hub.api, (method, args) => {
      if (isBusy && method === 'delete' && (args[1] as ObjectKey).name !== 'c0')
        throw new TransientError('busy', { code: 'kube.busy', subject: 'hub' });
    });
    const { says } = controller({ api });
    await says(from(0));
    expect(await says(from(3))).toMatchObject({ pruned: 1 });
    isBusy = false;
    expect(await says(from(3))).toMatchObject({ pruned: 2, pruneHeld: undefined });
    expect((await says(from(4))).pruneHeld?.message).toContain('after 3 that');
  });

  it('count as what they were also where they are too many to be named', async () => {
    let isBusy = true;
    const api = interceptedApi(hub.api, (method, args) => {
      if (isBusy && method === 'delete' && (args[1] as ObjectKey).name !== 'n0')
        throw new TransientError('busy', { code: 'kube.busy', subject: 'hub' });
    });
    const { says } = controller({ api, budget: { percent: 0, atLeast: 1_001 } });
    const many = Array.from({ length: 1_001 }, (_, n) => settings(`n${n}`));
    await says([...from(0), ...many]);
    expect(await says(from(0))).toMatchObject({ pruned: 1 });
    isBusy = false;
    expect(await says(from(0))).toMatchObject({ pruned: 1_000, pruneHeld: undefined });
    expect((await says(from(1))).pruneHeld?.message).toContain('1 of 12 objects left Git, after 1001 that');
  });

  it.each(['before', 'after'])(
    'are noted before the first of them goes, killed %s a deletion',
    async (when) => {
      let writesLeft = 0;
      const dies = { isDead: true };
      for (let at = 1; dies.isDead; at++) {
        await hub.close();
        hub = await startEmbeddedHub();
        await controller().says(from(0));
        writesLeft = at;
        dies.isDead = false;
        const api = interceptedApi(hub.api, (method, args) => {
          if (!['delete', 'apply', 'mergePatch'].includes(method)) return;
          if (dies.isDead) throw new Error('dead');
          writesLeft -= 1;
          if (writesLeft > 0) return;
          dies.isDead = true;
          if (when === 'after' && method === 'delete') {
            const [kind, key, options] = args as Parameters<KubeApi['delete']>;
            after = hub.api.delete(kind, key, options);
          }
          throw new Error('dead');
        });
        let after: Promise<unknown> = Promise.resolve();
        await controller({ api })
          .says(from(3))
          .catch(() => undefined);
        await after;
        const { pruneHeld } = await controller().says(from(4));
        const [now, of, before = '0'] =
          /^(\d+) of (\d+) objects left Git(?:, after (\d+))?/.exec(pruneHeld?.message ?? '')?.slice(1) ?? [];
        expect([at, Number(now) + Number(before), Number(of) + Number(before)]).toEqual([at, 4, 12]);
        expect(await left()).toBe(Number(of));
        if (!dies.isDead) expect(at).toBeGreaterThan(4);
      }
    },
  );

  it('count by themselves where the settings say so', async () => {
    const { says } = controller({ deletionWindowMs: 0 });
    await says(from(0));
    for (const first of [2, 4, 6, 8]) expect(await says(from(first))).toMatchObject({ pruned: 2 });
  });

  it('do not count where they are taken back by the commit that takes others away', async () => {
    const { says } = controller();
    await says(from(0));
    await says(from(3));
    expect(await says(without(1, 2, 3))).toMatchObject({ pruned: 1, pruneHeld: undefined });
  });

  const more = (count: number) => Array.from({ length: count }, (_, at) => settings(`new${at}`));

  it('are no smaller a share because of changes beside them, or while they are held', async () => {
    const { says } = controller();
    await says(from(0));
    const { pruneHeld } = await says([...from(4), ...more(20)]);
    expect(pruneHeld?.message).toContain('4 of 12 objects left Git (budget 3)');
    expect((await says([...from(4), ...more(20)])).pruneHeld).toEqual(pruneHeld);
    expect((await controller().says([...from(4), ...more(40)])).pruneHeld).toEqual(pruneHeld);
    await release(pruneHeld?.token ?? '');
    expect(await says([...from(4), ...more(40)])).toMatchObject({ pruned: 4, pruneHeld: undefined });
    expect(await says([...from(8), ...more(40)])).toMatchObject({ pruned: 4, pruneHeld: undefined });
  });

  it('are no smaller a share after a kill at any write of the commit that brings more', async () => {
    const replaced = [...from(4), ...more(8)];
    for (let at = 1, isDead = true; isDead; at++) {
      await hub.close();
      hub = await startEmbeddedHub();
      await controller().says(from(0));
      let writesLeft = at;
      isDead = false;
      const api = interceptedApi(hub.api, (method) => {
        if (!['delete', 'apply', 'mergePatch'].includes(method)) return;
        isDead ||= --writesLeft === 0;
        if (isDead) throw new Error('dead');
      });
      await controller({ api })
        .says(replaced)
        .catch(() => undefined);
      const { pruned, pruneHeld } = await controller().says(replaced);
      expect([at, pruned, pruneHeld?.message.split(';')[0]]).toEqual([
        at,
        0,
        '4 of 12 objects left Git (budget 3)',
      ]);
    }
  });

  it('no longer hold where the settings say so since', async () => {
    const { says } = controller();
    await says(from(0));
    await says(from(3));
    expect((await says(from(4))).pruneHeld?.message).toContain('after 3 that were deleted');
    const { says: later } = controller({ deletionWindowMs: 0 });
    expect(await later(from(4))).toMatchObject({ pruned: 1, pruneHeld: undefined });
  });
});
