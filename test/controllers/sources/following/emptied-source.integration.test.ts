import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { Plan } from '../../../../src/core/preview/plan.ts';
import { namespace, yaml } from '../../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';

const PLAN = ['plan', '--base', 'main', '--head', 'change', '--kind', '*', '-o', 'json'];

describe('the last objects that a source has on the hub', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({ 'apps/a.yaml': yaml(settings('a')), 'apps/b.yaml': yaml(settings('b')) });
  });
  afterEach(() => fleet.close());

  const settings = (name: string, apiVersion = 'v1') => ({
    apiVersion,
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
  });
  const uids = async () => {
    const found = await Promise.all(
      ['a', 'b'].map((name) => fleet.hub.api.get(CONFIG_MAP, { namespace: 'default', name })),
    );
    return found.map((object) => object?.metadata.uid);
  };
  const annotations = async () =>
    (await fleet.hub.api.get(CONFIG_MAP, { namespace: 'berth-system', name: 'berth-fleet' }))?.metadata
      .annotations ?? {};
  const heldNow = (after = 0) =>
    fleet.event('sync-problem', ({ message }) => message.includes('would be left on the hub'), after);
  const codeOf = ({ message }: { readonly message: string }) => /--token ([0-9a-f]{12})/.exec(message)?.[1];
  const none = { 'apps/a.yaml': undefined, 'apps/b.yaml': undefined };
  const applied = () => fleet.event('synced', (event) => event.applied + event.unchanged === 2);

  it('stay when the last manifests are deleted, until somebody releases that by hand', async () => {
    await fleet.serve({ http: fleet.http() });
    await applied();
    const before = await uids();
    fleet.git.commit(none, 'Tidy up');
    const held = await heldNow();
    const code = codeOf(held) ?? '';
    const commit = fleet.git.run('rev-parse', 'HEAD').trim();
    expect(held).toMatchObject({ source: 'fleet', object: 'source fleet' });
    expect(held.message).toContain(`2 of 2 objects left Git in commit ${commit.slice(0, 12)}`);
    expect(held.message).toContain('ConfigMap default/a, ConfigMap default/b');
    const status = await fleet.status();
    expect(status).toMatchObject({ code: 1, stdout: expect.stringContaining(held.message) as string });
    expect(await annotations()).toMatchObject({
      'berth.dev/held-token': code,
      'berth.dev/held-message': held.message,
    });
    const release = ['release', '--source', 'fleet', '--kubeconfig', fleet.hub.kubeconfig, '--as', 'Grace'];
    expect((await fleet.berth(...release, '--token', 'ffffffffffff')).code).toBe(1);
    expect(await uids()).toEqual(before);
    expect((await fleet.berth(...release, '--token', code)).code).toBe(0);
    expect(await fleet.event('synced', ({ pruned }) => pruned > 0)).toMatchObject({
      pruned: 2,
      released: {
        token: code,
        by: expect.stringMatching(
          /^Grace \(Kubernetes user [a-z:]+, as recorded by the client\) at /,
        ) as string,
      },
    });
    expect(await uids()).toEqual([undefined, undefined]);
    await fleet.until(async () => ((await fleet.status()).code === 0 ? true : undefined));
    expect((await annotations())['berth.dev/held-token']).toBe('');
  });

  it('stay when the paths are mistyped, across a restart, and are as before when they are corrected', async () => {
    const serve = (path: string) => fleet.serve({ sources: [{ url: fleet.git.path, paths: [path] }] });
    await serve('apps');
    await applied();
    const before = await uids();
    for (const _restart of [1, 2]) {
      await fleet.stop();
      await serve('app');
      await heldNow();
    }
    expect(await uids()).toEqual(before);
    await fleet.stop();
    await serve('apps');
    expect(await applied()).toMatchObject({ applied: 0, unchanged: 2, pruned: 0 });
    expect(await uids()).toEqual(before);
    await fleet.until(async () => ((await annotations())['berth.dev/held-token'] === '' ? true : undefined));
  });

  it('go when a manifest that is added carries the release, and its commit is the record', async () => {
    await fleet.serve();
    await applied();
    fleet.git.commit(none);
    const code = codeOf(await heldNow()) ?? '';
    const carrier = {
      ...namespace('x'),
      metadata: { name: 'x', annotations: { 'berth.dev/release': code } },
    };
    fleet.git.commit({ 'release.yaml': yaml(carrier) }, 'It is meant');
    const commit = fleet.git.run('rev-parse', 'HEAD').trim();
    const by = expect.stringMatching(new RegExp(`^Ada <.*> at .* in commit ${commit}$`)) as string;
    expect(await fleet.event('synced', ({ pruned }) => pruned > 0)).toMatchObject({
      pruned: 2,
      released: { token: code, by },
    });
    expect(await annotations()).toMatchObject({
      'berth.dev/release': code,
      'berth.dev/released-by': by,
      'berth.dev/held-token': '',
    });
  });

  it('stay until what replaces them is on the hub', async () => {
    await fleet.serve();
    await applied();
    const before = await uids();
    fleet.git.commit(
      { ...none, 'apps/c.yaml': yaml(settings('c', 'example.org/v1')) },
      'A kind that is not there',
    );
    await heldNow();
    expect(await uids()).toEqual(before);
    fleet.git.commit({ 'apps/c.yaml': yaml(settings('c')) }, 'Repaired');
    expect(await fleet.event('synced', ({ pruned }) => pruned > 0)).toMatchObject({ pruned: 2 });
    expect((await annotations())['berth.dev/held-token']).toBe('');
  });

  it('go at once where the source says that it may be empty', async () => {
    await fleet.serve({ sources: [{ url: fleet.git.path, allowEmpty: true }] });
    await applied();
    fleet.git.commit(none);
    expect(await fleet.event('synced', ({ pruned }) => pruned > 0)).toMatchObject({ pruned: 2 });
    expect(fleet.events.filter(({ kind }) => kind === 'sync-problem')).toEqual([]);
  });

  it('move to another source together, without a release and without being deleted', async () => {
    fleet.second.commit({ 'own.yaml': yaml(settings('own')) });
    await fleet.serve({
      sources: [
        { name: 'fleet', url: fleet.git.path },
        { name: 'other', url: fleet.second.path },
      ],
    });
    await fleet.event('synced', ({ source }) => source === 'fleet');
    await fleet.event('synced', ({ source }) => source === 'other');
    const before = await uids();
    fleet.second.commit({ 'apps.yaml': yaml(settings('a'), settings('b')) });
    await fleet.event('sync-problem', ({ source }) => source === 'other');
    const seen = fleet.events.length;
    fleet.git.commit(none);
    await fleet.event('synced', ({ source, applied: count }) => source === 'other' && count === 2, seen);
    expect(await uids()).toEqual(before);
    await fleet.until(async () => ((await annotations())['berth.dev/held-token'] ?? '') === '' || undefined);
    expect(fleet.events.filter((event) => event.kind === 'synced' && event.pruned > 0)).toEqual([]);
  });

  it('are what a plan says is held, under the same code', async () => {
    await fleet.serve();
    await applied();
    fleet.git.run('checkout', '-q', '-b', 'change');
    fleet.git.commit(none);
    const planned = await fleet.berth(...PLAN);
    const [deletions] = (JSON.parse(planned.stdout) as Plan).deletionsHeld;
    expect(deletions?.message).toContain('2 of 2 objects left Git, and nothing that source fleet has');
    expect(codeOf({ message: deletions?.message ?? '' })).toBe(deletions?.token);
    fleet.git.merge('change');
    expect(codeOf(await heldNow())).toBe(deletions?.token);
  });
});
