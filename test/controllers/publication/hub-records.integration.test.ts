import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { dataOf, HubRecords } from '../../../src/controllers/publication/hub-records.ts';
import { RECORDS_LABEL } from '../../../src/core/publish/record/compact-record.ts';
import { ConflictError, TransientError } from '@berth/runtime/errors';
import { CONFIG_MAP, MANAGED_CLUSTER, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { CompactRecord } from '../../../src/core/publish/record/compact-record.ts';
import type { DecisionRecord } from '../../../src/core/publish/record/decision-record.ts';
import { decisionRecord } from '../../fakes/decision-record.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';
import { drawn } from '@berth/test-kit/seeded-random';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { UnreliableKubeApi } from '../../fakes/unreliable-kube-api.ts';
import { baseFiles, cluster, placement, yaml } from '../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../app/serve/served-fleet.ts';

const record = (hash: string, ns = 'team-a', publishedAt = new Date().toISOString()) =>
  decisionRecord({ hash, placement: `${ns}/web`, publishedAt });

describe('records on a hub', () => {
  let fleet: ServedFleet;
  const dirs: string[] = [];
  beforeEach(async () => {
    fleet = await ServedFleet.create();
  });
  afterEach(async () => {
    await fleet.close();
    for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
  });

  const web = (numberOfClusters: number) => ({ 'web.yaml': yaml(placement('web', { numberOfClusters })) });
  const onHub = () => ['--kubeconfig', fleet.hub.kubeconfig];
  async function listed(): Promise<readonly CompactRecord[]> {
    const { code, stdout, stderr } = await fleet.berth('history', 'team-a/web', ...onHub(), '-o', 'json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout) as CompactRecord[];
  }

  it('outlive the leader and its disk; history and replay read them through a kubeconfig', async () => {
    fleet.git.commit({ ...baseFiles, ...web(2) }, 'First');
    await fleet.serve({ embedded: false });
    await fleet.published('web');
    await fleet.stop();
    const [first] = await listed();
    expect(first).toMatchObject({ commit: { subject: 'First' }, added: { count: 2, names: ['c1', 'c2'] } });

    // The next leader, on another machine.
    const dataDir = mkdtempSync(join(tmpdir(), 'berth-serve-'));
    dirs.push(dataDir);
    fleet.git.commit(web(3), 'Second');
    await fleet.serve({ embedded: false, dataDir });
    await fleet.published('web');
    await fleet.stop();
    const both = await listed();
    expect(both.map(({ commit }) => commit?.subject)).toEqual(['First', 'Second']);
    expect(both[0]).toEqual(first);
    const table = await fleet.berth('history', ...onHub());
    expect(table.stdout).toMatch(/team-a\/web +2 +\+2 +[0-9a-f]{8}\n.*team-a\/web +3 +\+1 +[0-9a-f]{8}\n/);
    expect(table.stdout).not.toContain('RELEASED BY');

    const replay = (record: CompactRecord | undefined, dir: string) =>
      fleet.berth('replay', record?.hash ?? '', ...onHub(), '--data', dir);
    expect(await replay(both[1], dataDir)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('byte for byte') as string,
    });
    expect(await replay(both[0], dataDir)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(
          `record ${both[0]?.hash}: its inputs \\([0-9a-f]+\\) are missing in .*\\n.*--data .*; or .*--kubeconfig and --repo CLONE`,
        ),
      ) as string,
    });
    expect(await replay(both[0], fleet.dataDir)).toMatchObject({ code: 0 });

    const [kept] = (await fleet.hub.api.list(CONFIG_MAP, { labelSelector: RECORDS_LABEL })).items;
    const changed = Object.entries(dataOf(kept as KubeObject)).map(([key, text]) => [
      key,
      text.replace(/"decidedSha256":"[0-9a-f]+"/, '"decidedSha256":"0"'),
    ]);
    const { namespace = '', name } = (kept as KubeObject).metadata;
    await fleet.hub.api.mergePatch(CONFIG_MAP, { namespace, name }, { data: Object.fromEntries(changed) });
    expect(await replay(both[1], dataDir)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /: another decision\n- sha256 0\n\+ sha256 [0-9a-f]{64}\n {2}\{"outcome":/,
      ) as string,
    });
  });

  it('are replayed without any data directory from the commit and the hub, as far as these tell', async () => {
    fleet.git.commit({ ...baseFiles, ...web(2) }, 'First');
    await fleet.serve({ embedded: false });
    await fleet.published('web');
    fleet.git.commit(web(3), 'Second');
    await fleet.event('published', ({ clusters }) => clusters.length === 3);
    const taint = { taints: [{ key: 'drain', effect: 'NoSelect' }] };
    const [first, ...rest] = baseFiles['clusters.yaml'].split('---\n');
    fleet.git.commit({ 'clusters.yaml': [yaml(cluster('c1', taint)), ...rest].join('---\n') }, 'Third');
    expect(first).toContain('c1');
    await fleet.event('published', ({ removed }) => removed.includes('c1'));
    await fleet.stop();
    const records = await listed();
    expect(records.map(({ commit }) => commit?.subject)).toEqual(['First', 'Second', 'Third']);
    rmSync(fleet.dataDir, { recursive: true });

    const nowhere = ['--data', join(fleet.dataDir, 'nowhere')];
    const replay = ({ hash }: CompactRecord, ...more: string[]) =>
      fleet.berth('replay', hash, ...onHub(), ...nowhere, ...more);
    for (const record of records)
      expect(await replay(record, '--repo', fleet.git.path)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(
          new RegExp(
            `byte for byte .*rebuilt from commit ${record.commit?.id.slice(0, 12)} and the current hub`,
          ),
        ) as string,
      });
    expect(await replay(records[0]!)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--repo CLONE') as string,
    });

    // What others changed since is not known to anybody: said, and not taken for a proof.
    await fleet.hub.api.delete(MANAGED_CLUSTER, { namespace: '', name: 'c6' });
    const patch = { spec: { taints: [{ key: 'x', effect: 'NoSelect' }] } };
    await fleet.hub.api.mergePatch(MANAGED_CLUSTER, { namespace: '', name: 'c2' }, patch);
    expect(await replay(records[0]!, '--repo', fleet.git.path)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('another decision, from inputs rebuilt') as string,
      stderr: expect.stringContaining('This proves nothing') as string,
    });
  });

  it('are written to an embedded hub, too, where a plan reads them', async () => {
    fleet.git.commit({ ...baseFiles, ...web(2) }, 'First');
    await fleet.serve();
    await fleet.published('web');
    await fleet.stop();
    expect((await listed()).map(({ commit }) => commit?.subject)).toEqual(['First']);
    expect((await fleet.berth('history', '--data', fleet.dataDir)).stdout).toContain('team-a/web');
  });

  it('survive lost answers, a writer beside them and a namespace that is gone', async () => {
    const { api } = fleet.hub;
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } };
    await api.create(NAMESPACE, namespace);
    const rates = { fail: 0, lostAnswer: 1, late: 0, watch: 0 };
    const lossy = new UnreliableKubeApi(api, systemClock, drawn(), rates);
    const recordsOver = (hub: typeof api | UnreliableKubeApi) =>
      new HubRecords({ api: hub, clock: systemClock, log: new SilentLogger(), digest: (text) => text });
    const [unlucky, other] = [recordsOver(lossy), recordsOver(api)];
    unlucky.append(record('1111'));
    unlucky.append(record('2222', 'gone'));
    await unlucky.close();
    other.append(record('3333'));
    await other.close();
    rates.lostAnswer = 0;
    await unlucky.close();
    expect((await listed()).map(({ hash }) => hash)).toEqual(['1111', '3333']);
    const map = await api.get(CONFIG_MAP, { namespace: 'team-a', name: 'berth-records' });
    expect(Object.keys(map?.['data'] ?? {})).toHaveLength(2);
  });
});

/** A hub that does what the test says with the next writes. */
class StubbornHub extends InterceptedKubeApi {
  refuse: (() => Error) | undefined;
  writes = 0;

  protected async write<T>(request: () => Promise<T>): Promise<T> {
    this.writes += 1;
    if (this.refuse !== undefined) throw this.refuse();
    return request();
  }
}

describe('records on a hub that refuses them', () => {
  const details = { code: 'kube.test', subject: 'test' };
  const start = () => {
    const [hub, clock] = [new StubbornHub(new FakeKubeApi()), new FakeClock()];
    return {
      hub,
      clock,
      records: new HubRecords({ api: hub, clock, log: new SilentLogger(), digest: (text) => text }),
    };
  };
  const kept = async (hub: StubbornHub) =>
    Object.keys(dataOf(await hub.get(CONFIG_MAP, { namespace: 'team-a', name: 'berth-records' })))
      .map((key) => key.split('.')[1])
      .sort();

  it('are tried again later, not over and over, where a map is there and is not', async () => {
    const { hub, clock, records } = start();
    hub.refuse = () => new ConflictError('is there already', details);
    records.append(record('1111'));
    await clock.advance(1_000);
    expect(hub.writes).toBe(2);
    hub.refuse = undefined;
    await clock.advance(15_000);
    expect(await kept(hub)).toEqual(['1111']);
    await records.close();
  });

  it('wait in a process that may not write, also when it ends, for the next start', async () => {
    const [hub, clock] = [new StubbornHub(new FakeKubeApi()), new FakeClock()];
    let mayWrite = false;
    const open = () =>
      new HubRecords({
        api: hub,
        clock,
        log: new SilentLogger(),
        digest: (text) => text,
        mayWrite: () => mayWrite,
      });
    const records = open();
    records.append(record('1111'));
    await clock.advance(60_000);
    expect(hub.writes).toBe(0);
    mayWrite = true;
    await clock.advance(15_000);
    expect(await kept(hub)).toEqual(['1111']);
    mayWrite = false;
    records.append(record('2222'));
    await records.close();
    expect(await kept(hub)).toEqual(['1111']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('are given up from the oldest on when too many wait, whatever came while a write failed', async () => {
    const { hub, clock, records } = start();
    const at = (count: number) => new Date(clock.now() + count).toISOString();
    for (let count = 0; count < 500; count++) records.append(record(`old${count}`, `team-a`, at(count)));
    hub.refuse = () => {
      records.append(record('newest', 'team-a', at(10_000)));
      return new TransientError('busy', details);
    };
    await clock.advance(1_000);
    hub.refuse = undefined;
    await clock.advance(30_000);
    expect(await kept(hub)).toContain('newest');
    await records.close();
  });
});

describe('records that a killed controller did not write to the hub', () => {
  it('are written at its next start, and those that are there are not written again', async () => {
    const hub = new FakeKubeApi();
    hub.addKind({ ...CONFIG_MAP });
    const clock = new FakeClock();
    let writtenThrough: string | undefined;
    const start = () =>
      new HubRecords({
        api: hub,
        clock,
        log: new SilentLogger(),
        digest: () => 'digest',
        writtenThrough: { get: () => writtenThrough, set: (hash) => (writtenThrough = hash) },
      });
    const [first, second, third] = [1, 2, 3].map((n) =>
      record(`h${n}`, 'team-a', new Date(clock.now() + n).toISOString()),
    ) as [DecisionRecord, DecisionRecord, DecisionRecord];
    const dying = start();
    dying.append(first);
    await clock.advance(1_500);
    expect(writtenThrough).toBe('h1');
    dying.append(second);
    const next = start();
    next.resume([first, second, third]);
    await clock.advance(1_500);
    const kept = dataOf(await hub.get(CONFIG_MAP, { namespace: 'team-a', name: 'berth-records' }));
    expect(Object.values(kept).map((text) => (JSON.parse(text) as CompactRecord).hash)).toEqual([
      'h1',
      'h2',
      'h3',
    ]);
    const writes = hub.writes.length;
    start().resume([first, second, third]);
    writtenThrough = undefined;
    start().resume([first, second, third]);
    await clock.advance(5_000);
    expect(hub.writes).toHaveLength(writes);
  });
});
