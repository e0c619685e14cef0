import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import type { ServeOptions } from '../../src/app/settings/serve-options.ts';
import { baseFiles, cluster, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../app/serve/served-fleet.ts';
import { DiskLife } from '@berth/test-kit/mortal-disk';
import { type Life, MortalKubeApi } from '@berth/test-kit/mortal-kube-api';

vi.mock('node:fs/promises', async (original) => {
  const { mortalFs } = await import('@berth/test-kit/mortal-disk');
  return mortalFs(await original());
});

const drained = { taints: [{ key: 'drain', value: 'x', effect: 'NoSelect' }] };
const drain = (...numbers: number[]) => ({
  'clusters.yaml': yaml(
    ...[1, 2, 3, 4, 5, 6].map((n) => cluster(`c${n}`, numbers.includes(n) ? drained : {})),
  ),
});
/** Two groups, so two pages: a change of both is more than one write. */
const web = (annotations: Record<string, string> = {}) => ({
  'web.yaml': yaml(
    placement('web', { decisionStrategy: { groupStrategy: { clustersPerDecisionGroup: 3 } } }, annotations),
  ),
});

describe.each([true, false])('kill -9 at every write to the hub (the last one is done: %s)', (lastIsDone) => {
  let fleet: ServedFleet;
  let root: string;
  let lives = 0;
  async function end(): Promise<void> {
    await fleet.close();
    rmSync(root, { recursive: true, force: true });
  }
  afterEach(end);

  /** Each process sees the directory under a name of its own, so that a dead one is not taken for the next. */
  function newLife(): string {
    const dir = join(root, `life-${++lives}`);
    symlinkSync(join(root, 'data'), dir);
    return dir;
  }
  const serve = (over: Partial<ServeOptions>) => fleet.serve({ dataDir: newLife(), ...over });

  async function start(budget: NonNullable<ServeOptions['budget']>): Promise<void> {
    fleet = await ServedFleet.create();
    root = mkdtempSync(join(tmpdir(), 'berth-lives-'));
    mkdirSync(join(root, 'data'));
    fleet.git.commit({ ...baseFiles, ...web() });
    await serve({ budget });
    await fleet.published('web');
    await fleet.stop();
  }

  /**
   * A process that dies at the n-th write since the commit, or lives to the end.
   * @returns whether it died
   */
  async function dieAt(
    writesLeft: number,
    options: Partial<ServeOptions>,
    isOver: () => Promise<boolean>,
  ): Promise<boolean> {
    const dataDir = newLife();
    const disk = new DiskLife(dataDir);
    const life: Life = {
      get dead() {
        return disk.dead;
      },
      set dead(dead: boolean) {
        disk.dead = dead;
      },
      writesLeft,
      lastIsDone,
    };
    const clock = {
      now: () => systemClock.now(),
      // What a dead process would have done later, it does not do.
      schedule: (ms: number, callback: () => void) => systemClock.schedule(ms, () => life.dead || callback()),
    };
    const api = new MortalKubeApi(fleet.hub.api, life);
    const dying = await fleet.serve({ ...options, clock, api, dataDir });
    await fleet.until(async () => (life.dead || (await isOver()) ? true : undefined));
    const died = life.dead;
    life.dead = true;
    void dying.close();
    return died;
  }

  it('a removal counts toward the budget of the next ones, however little its process lived to tell', async () => {
    const budget = { percent: 0, atLeast: 2 };
    let died = true;
    for (let at = 1; died; at++) {
      await start(budget);
      fleet.git.commit(drain(1, 2));
      const gone = async () => (await fleet.decisions('web')).length === 4;
      died = await dieAt(at, { budget }, gone);
      fleet.git.commit(drain(1, 2, 3));
      await serve({ budget });
      const { message } = await fleet.held('web', 'True', 'RemovalBudgetExceeded');
      // As many as went before count with those that would go now: three are too many, in whatever steps they come.
      const counts = /^(\d) of (\d) clusters would be removed(?:, after (\d))?/.exec(message) ?? [];
      const [now, of, before] = counts.slice(1).map((digits = '0') => Number(digits)) as [
        number,
        number,
        number,
      ];
      expect([message, now + before, of + before]).toEqual([message, 3, 6]);
      // Each listed once, though it may have died between adding to one page and removing from the other.
      await fleet.until(async () => ((await fleet.decisions('web')).length === of ? true : undefined));
      if (died) await end();
      else expect(at).toBeGreaterThan(4);
    }
  });

  it('a release lets the whole change through, wherever it was cut short', async () => {
    const budget = { percent: 0, atLeast: 0 };
    let died = true;
    for (let at = 1; died; at++) {
      await start(budget);
      fleet.git.commit(drain(1, 2, 5));
      await serve({ budget });
      const { message } = await fleet.held('web', 'True', 'RemovalBudgetExceeded');
      const code = /--token ([0-9a-f]{12})/.exec(message)?.[1] ?? '';
      await fleet.stop();
      fleet.git.commit(web({ 'berth.dev/release': code }), 'Release them');
      const gone = async () => (await fleet.decisions('web')).length === 3;
      died = await dieAt(at, { budget }, gone);
      await serve({ budget });
      await fleet.until(async () => ((await gone()) ? true : undefined));
      await fleet.held('web', 'False');
      if (died) await end();
      else expect(at).toBeGreaterThan(4);
    }
  });
});
