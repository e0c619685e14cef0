import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { readHubSnapshot } from '../../src/controllers/explanations/offline-snapshot.ts';
import { DEFAULT_PLAN_BOUNDS, type PlanBounds } from '../../src/controllers/previews/bounded/plan-bounds.ts';
import {
  PlanningProcesses,
  planInProcess,
} from '../../src/controllers/previews/bounded/planning-processes.ts';
import { planRevisions, type PlanRevisionsInput } from '../../src/controllers/previews/plan-revisions.ts';
import { readRecordedHubState } from '../../src/controllers/previews/recorded-hub-state.ts';
import { readArgoPart } from '../../src/app/generator-inputs/plan-inputs.ts';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { InputError } from '@berth/runtime/errors';
import { type KindInfo, MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  APPLY_SET_PART_OF_LABEL,
  applySetId,
  memberHead,
  parentOfSource,
} from '../../src/core/sync/apply-set.ts';
import { sha256 } from '@berth/runtime/sha256';
import { baseFiles, cluster, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { startEmbeddedHub } from '../fakes/embedded-hub.ts';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';

const program = pathToFileURL(join(import.meta.dirname, '../../dist/src/app/serve/plan-process.js'));

describe('planning in a process of its own', () => {
  let git: GitFixture;
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  let input: PlanRevisionsInput;
  let scratch: string;

  beforeAll(async () => {
    hub = await startEmbeddedHub();
    await hub.api.create(MANAGED_CLUSTER, cluster('on-hub-only'));
    git = new GitFixture();
    git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
    git.run('checkout', '-q', '-b', 'change');
    git.commit({ 'web.yaml': yaml(placement('web', { numberOfClusters: 7 })) });
    const now = '2026-01-01T00:00:00Z';
    input = {
      folder: git.path,
      base: 'main',
      head: 'change',
      sources: [
        {
          name: 'fleet',
          rank: 0,
          paths: [],
          budget: undefined,
          deletionWindowMs: undefined,
          allowEmpty: false,
          kinds: ['*'],
          applies: true,
        },
      ],
      fromMergeBase: false,
      now,
      hub: await readHubSnapshot(hub.api, now),
      hubMemory: await readRecordedHubState(hub.api, ['fleet']),
      hubApi: hub.api,
      ...(await readArgoPart(hub.api, 'argocd')),
      budgetOf: () => ({ percent: 10, atLeast: 0 }),
      engine: '1.2.3',
      ambient: process.env,
      onProgress: () => undefined,
    };
  });
  afterAll(async () => {
    await hub.close();
    git.remove();
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(scratch, { recursive: true, force: true });
  });

  const plan = (
    bounds: Partial<PlanBounds> = {},
    { signal = new AbortController().signal, file = program } = {},
  ): ReturnType<typeof planInProcess> => {
    scratch = mkdtempSync(join(tmpdir(), 'berth-bounded-'));
    vi.stubEnv('TMPDIR', scratch);
    return planInProcess(input, { program: file, bounds: { ...DEFAULT_PLAN_BOUNDS, ...bounds } }, signal);
  };

  it('gives the plan that planning in this process gives', async () => {
    const there = await plan();
    const here = await planRevisions(input);
    expect(there).toEqual(here);
    // No controller follows the base, so what it would publish is not the merge's.
    expect(there.plan.waiting).toMatchObject([{ kind: 'change' }]);
    expect(there.plan.placements).toHaveLength(1);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it('fails as planning fails', async () => {
    const wrong = { ...input, head: 'nowhere' };
    const signal = new AbortController().signal;
    scratch = mkdtempSync(join(tmpdir(), 'berth-bounded-'));
    const failed = planInProcess(wrong, { program, bounds: DEFAULT_PLAN_BOUNDS }, signal);
    const here = await planRevisions(wrong).catch((error: unknown) => error);
    await expect(failed).rejects.toThrow((here as Error).message);
    await expect(failed).rejects.toBeInstanceOf(InputError);
  });

  it.each([
    { bound: 'timeMs', bounds: { timeMs: 1 }, message: 'takes longer than 0.001 seconds, and was stopped' },
    { bound: 'outputBytes', bounds: { outputBytes: 200 }, message: 'is larger than 0 MiB' },
    { bound: 'memoryMiB', bounds: { memoryMiB: 12 }, message: 'takes more than 12 MiB of memory' },
  ])('is stopped at the bound of $bound', async ({ bound, bounds, message }) => {
    const stopped = plan(bounds);
    await expect(stopped).rejects.toThrow(message);
    await expect(stopped).rejects.toMatchObject({ code: `plan.bound.${bound}` });
    expect(readdirSync(scratch)).toEqual([]);
  });

  it.each([
    { way: 'never yields', code: 'for (;;);', bounds: { timeMs: 2_000 }, bound: 'timeMs' },
    {
      way: 'fills buffers outside of the heap',
      code: 'const all = []; setInterval(() => all.push(Buffer.alloc(16_000_000, 1)), 5);',
      bounds: { memoryMiB: 128 },
      bound: 'memoryMiB',
    },
    {
      way: 'says that much will come',
      code: 'process.stdout.write(Buffer.alloc(1_000, 255)); setInterval(() => {}, 1_000);',
      bounds: {},
      bound: 'outputBytes',
    },
    {
      way: 'starts others that stay',
      code: "require('node:child_process').spawn('sleep', [SECONDS], {detached: true}); for (;;);",
      bounds: { timeMs: 2_000 },
      bound: 'timeMs',
    },
  ])('is stopped when it $way', async ({ code, bounds, bound }) => {
    const dir = mkdtempSync(join(tmpdir(), 'berth-hostile-'));
    // Nobody else sleeps for so long.
    const seconds = String(1_000_000 + process.pid);
    const file = join(dir, `${seconds}.cjs`);
    try {
      writeFileSync(file, code.replace('SECONDS', `'${seconds}'`));
      await expect(plan(bounds, { file: pathToFileURL(file) })).rejects.toMatchObject({
        code: `plan.bound.${bound}`,
      });
      await expect.poll(commandLines).not.toContain(`sleep\0${seconds}\0`);
      expect(readdirSync(scratch)).toEqual([]);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('is stopped when a newer push makes it useless', async () => {
    const abort = new AbortController();
    const stopped = plan({}, { signal: abort.signal });
    const newer = new Error('a newer head');
    setImmediate(() => abort.abort(newer));
    await expect(stopped).rejects.toBe(newer);
    expect(readdirSync(scratch)).toEqual([]);
    await expect(plan({}, { signal: abort.signal })).rejects.toBe(newer);
  });

  describe('with processes that are used again', () => {
    const signal = new AbortController().signal;
    let processes: PlanningProcesses;
    const open = (bounds: Partial<PlanBounds> = {}): void => {
      scratch = mkdtempSync(join(tmpdir(), 'berth-bounded-'));
      vi.stubEnv('TMPDIR', scratch);
      processes = new PlanningProcesses(
        { program, bounds: { ...DEFAULT_PLAN_BOUNDS, ...bounds } },
        systemClock,
      );
    };
    afterEach(() => processes.close());

    it('gives the same plans one after the other, from one process', async () => {
      open();
      const here = await planRevisions(input);
      const other = { ...input, base: 'change', head: 'main' };
      for (const one of [input, other, input])
        expect(await processes.plan(one, signal)).toEqual(one === input ? here : await planRevisions(other));
      expect(readdirSync(scratch)).toHaveLength(1);
      await processes.close();
      expect(readdirSync(scratch)).toEqual([]);
    });

    it('sees what changed on the hub between two plans', async () => {
      open();
      const before = await processes.plan(input, signal);
      const clusters = (input.hub?.clusters ?? []).filter(({ metadata }) => metadata.name !== 'on-hub-only');
      const fewer = { ...input, hub: input.hub && { ...input.hub, clusters } };
      const after = await processes.plan(fewer, signal);
      expect(after).toEqual(await planRevisions(fewer));
      expect(after.plan.token?.inventory).not.toBe(before.plan.token?.inventory);
    });

    it('goes on with it after a plan that fails, and with another one after a bound', async () => {
      open();
      await expect(processes.plan({ ...input, head: 'nowhere' }, signal)).rejects.toBeInstanceOf(InputError);
      expect(readdirSync(scratch)).toHaveLength(1);
      const abort = new AbortController();
      const stopped = processes.plan(input, abort.signal);
      setImmediate(() => abort.abort(new Error('a newer head')));
      await expect(stopped).rejects.toThrow('a newer head');
      expect(readdirSync(scratch)).toEqual([]);
      expect(await processes.plan(input, signal)).toEqual(await planRevisions(input));
    });

    it('knows the heads of members from this process, also after another process was started', async () => {
      open();
      const labels = { [APPLY_SET_PART_OF_LABEL]: applySetId(sha256, parentOfSource('fleet')) };
      const left = { ...cluster('left'), metadata: { name: 'left', labels } };
      await hub.api.create(MANAGED_CLUSTER, left);
      const heads = (
        await hub.api.list(MANAGED_CLUSTER, { labelSelector: APPLY_SET_PART_OF_LABEL })
      ).items.map(memberHead);
      const asked: string[] = [];
      let known: readonly KubeObject[] | undefined = heads;
      const headsOf = async ({ kind }: KindInfo): Promise<readonly KubeObject[] | undefined> => {
        asked.push(kind);
        return kind === 'ManagedCluster' ? known : undefined;
      };
      const planned = { ...input, headsOf };
      const listed = await planRevisions(input);
      expect(await processes.plan(planned, signal)).toEqual(listed);
      expect(await processes.plan(planned, signal)).toEqual(listed);
      // The watch is closed.
      known = undefined;
      expect(await processes.plan(planned, signal)).toEqual(listed);
      known = heads;
      await processes.close();
      processes = new PlanningProcesses({ program, bounds: DEFAULT_PLAN_BOUNDS }, systemClock);
      expect(await processes.plan(planned, signal)).toEqual(listed);
      // Once a plan, also where the base without the merge is judged because an object leaves.
      expect(asked.filter((kind) => kind === 'ManagedCluster')).toHaveLength(4);
      await hub.api.delete(MANAGED_CLUSTER, { namespace: '', name: 'left' });
    });

    it('keeps no process that a fork was planned in', async () => {
      open();
      const fork = { ...input, runsPrograms: false };
      expect(await processes.plan(fork, signal)).toEqual(await planRevisions(fork));
      expect(readdirSync(scratch)).toEqual([]);
    });
  });
});

/** Of all processes. */
function commandLines(): readonly string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8')] : [];
    } catch {
      return [];
    }
  });
}
