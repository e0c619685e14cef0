import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  baseFiles,
  binding,
  clusterSet,
  namespace,
  placement,
  yaml,
} from '../../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';

let fleet: ServedFleet;
beforeEach(async () => {
  fleet = await ServedFleet.create();
});
afterEach(() => fleet.close());

/** A set leaves one source, and a placement that uses it leaves another. */
it('a deletion is no longer held for a placement that another source has deleted', async () => {
  fleet.git.commit(baseFiles);
  fleet.second.commit({ 'web.yaml': yaml(placement('web')), 'own.yaml': yaml(namespace('own')) });
  await fleet.serve({
    sources: [
      { name: 'fleet', url: fleet.git.path },
      { name: 'apps', url: fleet.second.path, budget: { percent: 100, atLeast: 1 } },
    ],
  });
  await fleet.published('web');
  const mark = fleet.events.length;
  fleet.git.commit({ 'set.yaml': yaml(namespace('team-a'), clusterSet) });
  const held = await fleet.event('sync-problem', ({ message }) => message.includes('left Git'), mark);
  expect(held.message).toContain(
    `ManagedClusterSetBinding team-a/${binding().metadata.name} takes away 6 of 6`,
  );
  fleet.second.commit({ 'web.yaml': undefined });
  await fleet.event('synced', ({ source, pruned }) => source === 'apps' && pruned === 1, mark);
  await fleet.event('synced', ({ source, pruned }) => source === 'fleet' && pruned === 1, mark);
});

it('deletions of one commit in two sources are not held for each other', async () => {
  const apps = { 'apps/web.yaml': yaml(placement('web')), 'apps/own.yaml': yaml(namespace('own')) };
  const base = Object.entries(baseFiles).map(([file, text]) => [`fleet/${file}`, text]);
  fleet.git.commit({ ...Object.fromEntries(base), ...apps });
  const { path: url } = fleet.git;
  await fleet.serve({
    sources: [
      { name: 'fleet', url, paths: ['fleet'] },
      { name: 'apps', url, paths: ['apps'], budget: { percent: 100, atLeast: 1 } },
    ],
  });
  await fleet.published('web');
  const mark = fleet.events.length;
  fleet.git.commit({ 'fleet/set.yaml': yaml(namespace('team-a'), clusterSet), 'apps/web.yaml': undefined });
  await Promise.all(
    ['fleet', 'apps'].map((name) =>
      fleet.event('synced', ({ source, pruned }) => source === name && pruned === 1, mark),
    ),
  );
  const problems = fleet.events.slice(mark).filter(({ kind }) => kind === 'sync-problem' || kind === 'held');
  expect(problems).toEqual([]);
});
