import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../../src/app/cli/program.ts';
import { releaseRemovals } from '../../../../src/controllers/releases/release-held.ts';
import { PullFleet } from '../../../controllers/argocd/pull/pull-fleet.ts';
import { makeCliIo } from '../../cli-harness.ts';

const CLUSTERS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
const GROUP = 'ApplicationSet argocd/shop';
const BY = 'anna at noon';

describe('berth release --application-set', () => {
  let fleet: PullFleet;
  beforeEach(async () => {
    fleet = await new PullFleet().start();
    for (const cluster of CLUSTERS) {
      await fleet.cluster(cluster);
      await fleet.application(cluster);
    }
    await fleet.settle();
  });
  afterEach(() => fleet.stop());
  const release = (code: string, group = GROUP) =>
    releaseRemovals(fleet.hub, group, { code, releasedBy: BY });
  const deleteAll = async (names: readonly string[] = CLUSTERS): Promise<string> => {
    for (const cluster of names) await fleet.delete(`shop-${cluster}`);
    await fleet.settle();
    return fleet.held.at(-1)?.token ?? '';
  };

  it('approves what is held, by the command that the hold names', async () => {
    const code = await deleteAll();
    expect(fleet.held[0]?.message).toContain(`berth release --application-set argocd/shop --token ${code}`);
    expect(await release(code)).toHaveLength(6);
    await fleet.settle();
    expect(fleet.works()).toEqual([]);
  });

  it('records who approved it', async () => {
    const code = await deleteAll();
    await release(code);
    const annotated = fleet.works().map(({ metadata }) => metadata.annotations ?? {});
    expect(annotated).toContainEqual(
      expect.objectContaining({ 'berth.dev/released-by': BY, 'berth.dev/release': code }),
    );
  });

  it('refuses a code of another removal, and names the one of now', async () => {
    const first = await deleteAll(CLUSTERS.slice(0, 4));
    const second = await deleteAll(CLUSTERS.slice(4));
    expect(second).not.toBe(first);
    await expect(release(first)).rejects.toThrow(`under ${second}`);
    await fleet.settle();
    expect(fleet.works()).toHaveLength(6);
  });

  it('says when nothing is held, and when there is no such group', async () => {
    await expect(release('0a1b2c3d4e5f')).rejects.toThrow('nothing is held');
    await expect(release('0a1b2c3d4e5f', 'ApplicationSet argocd/other')).rejects.toThrow(/no ManifestWork/);
  });

  it.each([
    [['team-a/web', '--source', 'fleet'], /expected one of/],
    [['--application-set', 'a/b', '--applications', 'a'], /expected one of/],
    [['--application-set', 'shop'], /NAMESPACE\/NAME/],
  ])('refuses %j', async (args, message) => {
    const { io, stderr } = makeCliIo();
    expect(await runCli(['release', '--token', '0a1b2c3d4e5f', ...args], io)).toBe(1);
    expect(stderr()).toMatch(message);
  });
});
