import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GitServer, serveHttp } from '../../../packages/git-reader/test/git-servers.ts';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';
import { drawn } from '@berth/test-kit/seeded-random';
import { SteeredLeadership } from '../../fakes/steered-leadership.ts';
import { baseFiles, cluster, namespace, outside, placement, replicaSet, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

/** `all` damages each file in each way. Otherwise one of each sort is damaged, in one way that is drawn. */
const IS_ALL = process.env['BERTH_DAMAGE'] === 'all';
const MOVE = { 'berth.dev/move-policy': 'MakeBeforeBreak', 'berth.dev/move-deadline': '24h' };
const CLUSTERS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9', 'd1'];

const HOW: Readonly<Record<string, (content: Buffer) => Buffer | undefined>> = {
  removed: () => undefined,
  empty: () => Buffer.alloc(0),
  cut: (content) => content.subarray(0, Math.floor(content.length / 2)),
  garbage: () => Buffer.from('\u0000\ufffd{]\n'.repeat(20)),
};

/** One of them, which the seed of this run draws. */
type Pick = <T>(items: readonly T[]) => T;
function picker(): Pick {
  const random = drawn();
  return <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
}

/** An Event may say that a source failed, whose mirror is fetched again. */
class CountedWrites extends InterceptedKubeApi {
  readonly writes: string[] = [];

  protected write<T>(request: () => Promise<T>, right: string): Promise<T> {
    if (!right.endsWith(' events')) this.writes.push(right);
    return request();
  }
}

interface Damage {
  readonly name: string;
  readonly file: string;
  readonly content: Buffer | undefined;
}

describe('a data directory of which a file is damaged', () => {
  let fleet: ServedFleet;
  let server: GitServer;
  let leadership: SteeredLeadership;
  /** As the last process left it. */
  let kept: string;
  let keptAtMs: number;

  const options = () => {
    leadership = new SteeredLeadership();
    const sources = [
      { name: 'fleet', url: server.url },
      { name: 'local', url: fleet.second.path },
    ];
    return { sources, leadership, embedded: false };
  };

  /** Holds, moves and what is counted: whatever a process would do if it forgot why it does not. */
  beforeAll(async () => {
    fleet = await ServedFleet.create();
    server = await serveHttp(join(fleet.git.path, '.git'));
    const clusters = (gone: readonly string[]) =>
      yaml(...CLUSTERS.map((name) => cluster(name, gone.includes(name) ? outside : {})));
    const names = ['web', 'all', 'move', 'gone', 'broken'];
    fleet.git.commit({
      ...baseFiles,
      'clusters.yaml': clusters([]),
      'namespaces.yaml': yaml(...CLUSTERS.map(namespace)),
      'web.yaml': yaml(placement('web', { numberOfClusters: 2 }), replicaSet),
      'all.yaml': yaml(placement('all')),
      'move.yaml': yaml(placement('move', { numberOfClusters: 1 }, MOVE)),
      'gone.yaml': yaml(placement('gone', { numberOfClusters: 1 })),
      'broken.yaml': yaml(placement('broken', { numberOfClusters: 1 })),
    });
    fleet.second.commit({ 'local.yaml': yaml(placement('local', { numberOfClusters: 3 })) });
    await fleet.serve(options());
    leadership.take();
    for (const name of [...names, 'local']) await fleet.published(name);
    const [moving = ''] = await fleet.decisions('move');
    const used = [moving, ...(await fleet.decisions('web')), ...(await fleet.decisions('broken'))];
    const spare = CLUSTERS.filter((name) => !used.includes(name));
    const has = (name: string, count: number) =>
      fleet.until(async () => (await fleet.decisions(name)).length === count || undefined);
    fleet.git.commit({ 'gone.yaml': undefined });
    await has('gone', 0);
    fleet.git.commit({ 'clusters.yaml': clusters(spare.slice(0, 2)), 'broken.yaml': '[' });
    await has('all', 8);
    // With the two before, more than the budget of the window allows. The handover waits for works.
    fleet.git.commit({ 'clusters.yaml': clusters([...spare.slice(0, 3), moving]) });
    await fleet.held('all', 'True', 'RemovalBudgetExceeded');
    await has('move', 2);
    await fleet.advance(60_000);
    await fleet.stop();
    keptAtMs = fleet.clock.now();
    kept = mkdtempSync(join(tmpdir(), 'berth-kept-'));
    cpSync(fleet.dataDir, kept, { recursive: true });
  });
  afterAll(async () => {
    rmSync(kept, { recursive: true, force: true });
    await fleet.close();
    await server.close();
  });

  const read = (file: string) => readFileSync(join(kept, file));
  const files = () =>
    readdirSync(kept, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(kept, join(entry.parentPath, entry.name)))
      .sort();
  /** One of each sort; file names that are digests and numbers are of one sort. The state files are each of its own. */
  const drawnFiles = (pick: Pick): readonly string[] => {
    if (IS_ALL) return files();
    const sorts = new Map<string, string[]>();
    for (const file of files()) {
      const sort = file.replace(/[0-9a-f]{8,}/g, '*');
      sorts.set(sort, [...(sorts.get(sort) ?? []), file]);
    }
    return [...sorts.values()].map((sort) => pick(sort));
  };

  /** What the next process does to the hub, until it has read everything and after that. */
  async function restart(damages: readonly Damage[]) {
    rmSync(fleet.dataDir, { recursive: true, force: true });
    cpSync(kept, fleet.dataDir, { recursive: true });
    for (const { file, content } of damages)
      if (content === undefined) rmSync(join(fleet.dataDir, file));
      else writeFileSync(join(fleet.dataDir, file), content);
    // Each starts at the same time, within the window of the removals.
    fleet.clock.skip(keptAtMs - fleet.clock.now());
    const api = new CountedWrites(fleet.hub.api);
    await fleet.serve({ ...options(), api });
    leadership.take();
    // A mirror that is damaged is fetched again, after a failure.
    await fleet.event('ready', ({ missing }) => missing.length === 0);
    await fleet.advance(30_000);
    await fleet.stop();
    return { writes: api.writes };
  }
  const nothing = { writes: [] };

  it('leads to no write: as it was left', async () => {
    expect(await restart([])).toEqual(nothing);
  });

  it('leads to no write: one file removed, empty, cut or garbage', async () => {
    const pick = picker();
    for (const file of drawnFiles(pick)) {
      const isState = !file.includes('/');
      const ways = IS_ALL || isState ? Object.keys(HOW) : [pick(Object.keys(HOW))];
      for (const how of ways) {
        const damage = { name: `${file} ${how}`, file, content: HOW[how]?.(read(file)) };
        expect({ damage: damage.name, ...(await restart([damage])) }).toEqual({
          damage: damage.name,
          ...nothing,
        });
      }
    }
  });

  it('leads to no write: two files swapped', async () => {
    const pick = picker();
    const all = files();
    const state = all.filter((file) => !file.includes('/'));
    const pairs = state.flatMap((a, at) => state.slice(at + 1).map((b) => [a, b] as const));
    const others = all.filter((file) => file.includes('/'));
    const some = IS_ALL ? pairs : Array.from({ length: 8 }, () => pick(pairs));
    const drawnPairs = Array.from({ length: IS_ALL ? 100 : 4 }, () => [pick(others), pick(others)] as const);
    for (const [a, b] of [...some, ...drawnPairs]) {
      const name = `${a} and ${b}`;
      const swap = [
        { name, file: a, content: read(b) },
        { name, file: b, content: read(a) },
      ];
      expect({ swapped: name, ...(await restart(swap)) }).toEqual({ swapped: name, ...nothing });
    }
  });
});
