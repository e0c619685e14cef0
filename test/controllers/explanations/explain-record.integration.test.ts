import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HistoryStore } from '../../../src/adapters/store/history-store.ts';
import { startEngine } from '../../../packages/placement/src/incremental-scheduler.ts';
import { DecisionRecorder } from '../../../src/controllers/publication/decision-recorder.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { runCli } from '../../../src/app/cli/program.ts';
import { makeCliIo } from '../../app/cli-harness.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { ONE_BOUND_SET } from '../../../packages/placement/test/snapshots.ts';

async function runBerth(...args: string[]) {
  const { io, stdout, stderr } = makeCliIo();
  const exitCode = await runCli(args, io);
  return { exitCode, stdout: stdout(), stderr: stderr() };
}

const GROUP = 'cluster.open-cluster-management.io';

const cluster = (name: string, labels: Record<string, string>): ManagedCluster => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'ManagedCluster',
  metadata: { name, labels: { ...labels, [`${GROUP}/clusterset`]: 's' } },
});

const BEFORE: Snapshot = {
  now: '2026-03-01T12:00:00Z',
  placements: [
    {
      apiVersion: `${GROUP}/v1beta1`,
      kind: 'Placement',
      metadata: { name: 'web', namespace: 'team' },
      spec: {
        predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { tier: 'gold' } } } }],
      },
    },
  ],
  clusters: [cluster('c1', { tier: 'gold' }), cluster('c2', { tier: 'gold' }), cluster('c3', {})],
  ...ONE_BOUND_SET,
};

/** Somebody took the label of one cluster away, and told something new of another. */
const AFTER: Snapshot = {
  ...BEFORE,
  clusters: [cluster('c1', { tier: 'gold', note: 'x' }), cluster('c2', {}), cluster('c3', {})],
};

describe('berth explain --data', () => {
  let data: string;

  beforeEach(async () => {
    data = mkdtempSync(join(tmpdir(), 'berth-records-'));
    await record(BEFORE, AFTER);
  });

  /** What a controller records of these inputs, one after the other. */
  async function record(...snapshots: readonly Snapshot[]): Promise<void> {
    const history = new HistoryStore({ dir: join(data, 'history'), maxRecords: 10, log: new SilentLogger() });
    const recorder = new DecisionRecorder({
      clock: new FakeClock(),
      engineVersion: 'x',
      lastCommitOf: () => undefined,
      inventoryRevision: () => 0,
      append: (record, snapshot) => history.append(record, snapshot),
    });
    const engine = startEngine();
    for (const snapshot of snapshots) {
      for (const result of engine(snapshot)) {
        recorder.noteInputs(snapshot, result);
        recorder.record({
          placement: 'team/web',
          result,
          groups: [],
          added: [],
          removed: [],
          released: undefined,
        });
      }
    }
    await history.flush();
  }

  afterEach(() => rmSync(data, { recursive: true, force: true }));

  it('names the object that caused the last change of a controller', async () => {
    const { exitCode, stdout } = await runBerth('explain', 'team/web', '--data', data);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^record [0-9a-f]{16}, published /);
    expect(stdout).toMatch(/c2.*ManagedCluster c2/);
    expect(stdout).not.toContain('ManagedCluster c1');
  });

  it('names it in the history of all records too, where it is asked for', async () => {
    const plain = await runBerth('history', '--data', data);
    expect(plain.stdout).not.toContain('CAUSED BY');
    const { exitCode, stdout } = await runBerth('history', 'team/web', '--data', data, '--why');
    expect(exitCode).toBe(0);
    const [, first, second] = stdout.split('\n');
    expect(first).toMatch(/ -\s*$/);
    expect(second).toMatch(/ ManagedCluster c2\s*$/);
    const json = await runBerth('history', '--data', data, '--why', '-o', 'json');
    expect(JSON.parse(json.stdout)).toMatchObject([
      { moves: null },
      { moves: { gained: [], lost: [{ cluster: 'c2', causes: ['ManagedCluster c2'] }] } },
    ]);
    // Inputs that are gone cost their explanation, and nothing else.
    rmSync(join(data, 'history', 'worlds'), { recursive: true });
    const without = await runBerth('history', '--data', data, '--why');
    expect(without.exitCode).toBe(0);
    expect(without.stdout.match(/ -\s*$/gm)).toHaveLength(2);
  });

  it('names the time where a toleration or a score ended', async () => {
    rmSync(join(data, 'history'), { recursive: true });
    const toleration = { key: 'maintenance', operator: 'Exists', tolerationSeconds: 3600 } as const;
    const taint = { key: 'maintenance', effect: 'NoSelect', timeAdded: '2026-03-01T12:00:00Z' } as const;
    const drained: Snapshot = {
      ...BEFORE,
      placements: BEFORE.placements.map((one) => ({ ...one, spec: { tolerations: [toleration] } })),
      clusters: [
        { ...cluster('c1', {}), spec: { hubAcceptsClient: true, taints: [taint] } },
        cluster('c2', {}),
      ],
    };
    await record(drained, { ...drained, now: '2026-03-01T13:00:01Z' });
    const { stdout } = await runBerth('history', 'team/web', '--data', data, '--why');
    const [, , second] = stdout.split('\n');
    expect(second).toMatch(/ time: a toleration or a score ended\s*$/);
  });

  it('explains an earlier record, and one cluster of it', async () => {
    const listed = await runBerth('history', '--data', data, '-o', 'json');
    const [first] = JSON.parse(listed.stdout) as { hash: string }[];
    const options = ['--data', data, '--record', String(first?.hash).slice(0, 8)];
    const { stdout } = await runBerth('explain', 'team/web', '--cluster', 'c2', ...options);
    expect(stdout).toContain('rank');
  });

  it.each([
    [['team/web', '--record', 'ffff'], 'there is no such record'],
    [['team/other'], 'there is no such record'],
    [['team/web', '--since', 'main'], 'a record has its own inputs'],
  ])('refuses %j', async (args, want) => {
    const { exitCode, stderr } = await runBerth('explain', ...args, '--data', data);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(want);
  });
});
