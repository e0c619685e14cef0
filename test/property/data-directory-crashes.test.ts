import { mkdtempSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { HistoryReader } from '../../src/adapters/store/history-store.ts';
import { startEngine } from '../../packages/placement/src/incremental-scheduler.ts';
import { PLACEMENT } from '@berth/kube/model/kinds';
import { type DecisionRecord, decidedText } from '../../src/core/publish/record/decision-record.ts';
import { recordedGroups } from '../../src/core/publish/record/last-publication.ts';
import { baseFiles, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../app/serve/served-fleet.ts';
import { MortalKubeApi, type Life } from '@berth/test-kit/mortal-kube-api';
import { DiskLife } from '@berth/test-kit/mortal-disk';

vi.mock('node:fs/promises', async (original) => {
  const { mortalFs } = await import('@berth/test-kit/mortal-disk');
  return mortalFs(await original());
});

const NAMES = ['a', 'b', 'c'];
/** Every file that a controller writes while it publishes. Of the pieces of a snapshot, all are written alike. */
const FILES = {
  'publish-state.json': /\/publish-state\.json/,
  'commits.json': /\/commits\.json/,
  'records.jsonl': /\/records\.jsonl/,
  snapshots: /\/worlds\//,
  'the first pieces': /\/pieces\//,
};
const MOST_CHANGES = 6;

describe('kill -9 of a controller at every change of a file of its data directory', () => {
  let fleet: ServedFleet;
  let root: string;
  let data: string;
  let lives = 0;
  let size = 0;
  let tip = '';
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    root = mkdtempSync(join(tmpdir(), 'berth-lives-'));
    data = join(root, 'data');
    mkdirSync(data);
    commit();
    await live();
  });
  afterEach(async () => {
    await fleet.close();
    rmSync(root, { recursive: true, force: true });
  });

  /** Each process sees the directory under a name of its own, so that a dead one is not taken for the next. */
  function newLife(): string {
    const dir = join(root, `life-${++lives}`);
    symlinkSync(data, dir);
    return dir;
  }
  /** Another size of all placements each time: each commit adds to their clusters or takes from them. */
  function commit(): void {
    size = (size + 2) % 5;
    const wanted = NAMES.map((name) => placement(name, { numberOfClusters: size + 1 }));
    tip = fleet.git.commit({ ...baseFiles, 'p.yaml': yaml(...wanted) });
  }
  async function expectPublished(): Promise<void> {
    for (const name of NAMES) {
      await fleet.until(async () => ((await fleet.decisions(name)).length === size + 1 ? true : undefined));
      const selected = async () => (await fleet.read(name)).status?.numberOfSelectedClusters;
      await fleet.until(async () => ((await selected()) === size + 1 ? true : undefined));
      expect(new Set(await fleet.decisions(name)).size).toBe(size + 1);
    }
  }

  /** From a start that nothing disturbs to rest. */
  async function live(): Promise<void> {
    const controller = await fleet.serve({ dataDir: newLife(), budget: { percent: 100, atLeast: 0 } });
    await controller.whenReady();
    await expectPublished();
    const version = async () => (await fleet.hub.api.list(PLACEMENT)).resourceVersion;
    // It comes to rest; the hub is compared with Git after what is published.
    await fleet.until(async () => {
      const before = await version();
      await fleet.advance(100);
      return (await version()) === before ? true : undefined;
    });
    await fleet.stop();
    await expectHistory();
  }

  /** @returns whether the file was changed so often */
  async function story(file: RegExp, at: number, when: 'before' | 'after'): Promise<boolean> {
    commit();
    const hubLife: Life = { dead: false, writesLeft: Infinity, lastIsDone: true };
    const dir = newLife();
    const disk = new DiskLife(dir, {
      at,
      when,
      counts: (name) => file.test(name),
      onDeath: () => (hubLife.dead = true),
    });
    const clock = {
      now: () => systemClock.now(),
      schedule: (ms: number, callback: () => void) =>
        systemClock.schedule(ms, () => hubLife.dead || callback()),
    };
    const api = new MortalKubeApi(fleet.hub.api, hubLife);
    const dying = await fleet.serve({ api, clock, dataDir: dir, budget: { percent: 100, atLeast: 0 } });
    await disk.survives(expectPublished().then(() => dying.close()));
    hubLife.dead = true;
    const { dead } = disk;
    disk.dead = true;

    await live();
    return dead;
  }
  /** What is published is in a record, with its commit; every record can be computed again. */
  async function expectHistory(): Promise<void> {
    const reader = new HistoryReader(join(data, 'history'));
    const records = await reader.list();
    expect(records.length).toBeGreaterThan(0);
    for (const name of NAMES) {
      const last = records.findLast(({ placement: key }) => key === `team-a/${name}`);
      const clusters = recordedGroups(last as DecisionRecord).flatMap((group) => group.clusters);
      expect([...clusters].sort()).toEqual([...(await fleet.decisions(name))].sort());
      expect(last?.commit?.id).toBe(tip);
    }
    // Each record goes on where the one before it ended: none is missing in between.
    for (const name of NAMES) {
      let before: readonly string[] = [];
      for (const record of records.filter(({ placement: key }) => key === `team-a/${name}`)) {
        const gone = new Set(record.removed);
        before = [...before.filter((cluster) => !gone.has(cluster)), ...record.added].sort();
        const now = recordedGroups(record).flatMap((group) => group.clusters);
        expect(before).toEqual([...now].sort());
      }
    }
    for (const { placement: key, inputs, decided } of records.slice(-6)) {
      const results = [...startEngine()(await reader.readSnapshot(inputs))];
      const again = results.find(
        ({ placement: { metadata } }) => `${metadata.namespace}/${metadata.name}` === key,
      );
      expect(again && decidedText(again)).toBe(decided);
    }
    expect(readdirSync(data).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  }

  it.each(Object.entries(FILES))('%s: the next start brings the same state', async (_name, file) => {
    for (const when of ['before', 'after'] as const) {
      let deaths = 0;
      while (deaths < MOST_CHANGES && (await story(file, deaths + 1, when))) deaths += 1;
      expect(deaths).toBeGreaterThanOrEqual(3);
    }
  });
});
