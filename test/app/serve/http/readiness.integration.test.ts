import { renameSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FirstReads } from '../../../../src/controllers/sources/progress/source-ledger.ts';
import { logEvent } from '../../../../src/app/serve/log-event.ts';
import { Readiness } from '../../../../src/app/serve/http/readiness.ts';
import type { LeadershipStatus } from '@berth/kube/leader-election/leadership';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { baseFiles, placement, yaml } from '../fleet-fixture.ts';
import { ServedFleet } from '../served-fleet.ts';

describe('Readiness', () => {
  const made = (names: readonly string[]) => {
    const clock = new FakeClock();
    const state = { stale: undefined as string | undefined, complete: true };
    const reads = new FirstReads(clock, names);
    const inventory = { servingProblem: () => state.stale };
    const readiness = new Readiness(
      inventory,
      {
        get complete() {
          return state.complete;
        },
      },
      reads,
    );
    void readiness.whenSourcesRead(new AbortController().signal);
    return { clock, state, reads, readiness };
  };

  it('waits for every source to be read once, and for the hub', async () => {
    const { clock, state, reads, readiness } = made(['a', 'b']);
    expect(readiness.problem()).toBe('not read yet: source a, b');
    reads.attempted('a');
    await clock.advance(1);
    expect(readiness.problem()).toBe('not read yet: source b');
    reads.attempted('b');
    await clock.advance(1);
    expect(readiness.problem()).toBeUndefined();
    state.complete = false;
    expect(readiness.problem()).toBe('the first publication is not complete');
    state.stale = 'placements have not been read yet';
    expect(readiness.problem()).toBe('placements have not been read yet');
  });

  it('does not wait forever', async () => {
    const { clock, readiness } = made(['a']);
    await clock.advance(59_000);
    expect(readiness.problem()).toBe('not read yet: source a');
    await clock.advance(1_001);
    expect(readiness.problem()).toBeUndefined();
  });

  it.each<{ status: Partial<LeadershipStatus>; want: string | undefined }>([
    { status: { role: 'leading' }, want: undefined },
    { status: { role: 'lapsed', problem: 'no answer' }, want: undefined },
    { status: { role: 'standby', holder: 'other_1' }, want: undefined },
    { status: { role: 'deciding' }, want: 'Lease a/b has not been read yet' },
    {
      status: { role: 'deciding', problem: 'GET /leases: forbidden' },
      want: 'Lease a/b can be neither read nor taken: GET /leases: forbidden',
    },
    { status: { role: 'lost', holder: 'other_1' }, want: 'Lease a/b was lost to other_1' },
    { status: { role: 'lost' }, want: 'Lease a/b was lost to another process' },
  ])('of a process that is $status.role: $want', async ({ status, want }) => {
    const election = { role: 'standby' as const, lease: 'a/b', identity: 'me', holder: '', transitions: 0 };
    const readiness = new Readiness(
      { servingProblem: () => undefined },
      { complete: true },
      new FirstReads(new FakeClock(), []),
      { status: () => ({ ...election, problem: undefined, ...status }) },
    );
    await readiness.whenSourcesRead(new AbortController().signal);
    expect(readiness.problem()).toBe(want);
  });

  it('has nothing to wait for without sources', async () => {
    const { clock, readiness } = made([]);
    await clock.advance(1);
    expect(readiness.problem()).toBeUndefined();
  });
});

describe('a controller whose source is slow, or down', () => {
  let fleet: ServedFleet;
  let forge: Server;
  let url: string;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    forge = createServer(() => undefined);
    await new Promise<void>((resolve) => forge.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(forge.address() as AddressInfo).port}/fleet.git`;
  });
  afterEach(async () => {
    forge.closeAllConnections();
    await fleet.close();
    forge.close();
  });
  const ask = async (base: string | undefined, path: string) => {
    const answer = await fetch(`${base}${path}`, {
      headers: { authorization: 'Bearer a-token-of-this-test' },
    });
    return [answer.status, await answer.text()] as const;
  };
  const getparams = async (base: string | undefined) =>
    (
      await fetch(`${base}/api/v1/getparams.execute`, {
        method: 'POST',
        headers: { authorization: 'Bearer a-token-of-this-test', 'content-type': 'application/json' },
        body: JSON.stringify({ applicationSetName: 'x', input: { parameters: { placement: 'team-a/web' } } }),
      })
    ).status;

  it('is not ready while the first answer is awaited, but serves what was published; then it is, and says what is missing', async () => {
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
    await fleet.serve();
    await fleet.published('web');
    await fleet.stop();

    const sources = [
      { name: 'fleet', url: fleet.git.path },
      { name: 'slow', url },
    ];
    const { url: base } = await fleet.serve({ sources, http: fleet.http() });
    await fleet.event('synced', ({ source }) => source === 'fleet');
    await fleet.until(async () => ((await getparams(base)) === 200 ? true : undefined));
    expect(await ask(base, '/readyz')).toEqual([503, 'not read yet: source slow']);
    expect((await fleet.status()).stdout).toContain('Controller: not ready: not read yet: source slow');
    expect(fleet.events.some(({ kind }) => kind === 'ready')).toBe(false);

    forge.closeAllConnections();
    expect(await fleet.event('ready')).toMatchObject({ missing: ['source slow could not be read'] });
    expect(await ask(base, '/readyz')).toEqual([
      200,
      'ok\nsource slow could not be read yet: see berth status',
    ]);
    const { code, stdout } = await fleet.status();
    expect(code).toBe(1);
    expect(stdout).toContain('Controller: ready');
  });

  it('reports that everything was read when it was, after a start without a source', async () => {
    const gone = `${fleet.git.path}-later`;
    await fleet.serve({ sources: [{ name: 'later', url: gone }] });
    expect(await fleet.event('ready')).toMatchObject({ missing: ['source later could not be read'] });
    fleet.git.commit({ ...baseFiles });
    renameSync(fleet.git.path, gone);
    try {
      await fleet.event('ready', ({ missing, publishes }) => missing.length === 0 && publishes);
    } finally {
      renameSync(gone, fleet.git.path);
    }
  });

  it('logs each failure of a source once', async () => {
    const log = new SilentLogger();
    const sources = [{ name: 'gone', url: `${fleet.git.path}/nowhere` }];
    await fleet.serve({ sources, log });
    await fleet.event('error', ({ where }) => where === 'source gone');
    await fleet.stop();
    for (const event of fleet.events) logEvent(log, event);
    const failures = fleet.events.filter(({ kind }) => kind === 'error').length;
    const told = log.entries.filter(({ fields }) => fields['error'] !== undefined);
    expect(told).toHaveLength(failures);
    expect(told[0]).toMatchObject({ level: 'warn', message: 'source failed', fields: { source: 'gone' } });
  });
});
