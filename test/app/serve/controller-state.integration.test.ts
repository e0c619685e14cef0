import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { openControllerState } from '../../../src/app/serve/controller-state.ts';
import type { Clock } from '@berth/runtime/clock/clock';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const LEASE = 'berth-system/berth-fleet';
const STATE = { specHash: 's', publishedAtMs: 1, removals: [{ atMs: 1, count: 2 }] };

describe('what a data directory remembers of publications', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'berth-state-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  const open = (clock: Clock = systemClock, dir = dataDir) =>
    openControllerState({
      api: new FakeKubeApi(),
      sources: [],
      dataDir: dir,
      clock,
      log: new SilentLogger(),
      random: Math.random,
      engineVersion: 'test',
      env: {},
    });

  /**
   * A process that leads a term and publishes in it.
   * @returns what it knew of before it published
   */
  async function leads(
    previousTerm: string | undefined,
    term: string,
    { lease = LEASE, wasRestored = false } = {},
  ): Promise<unknown> {
    const state = open();
    state.takeOver({ lease, term, previousTerm }, { wasRestored });
    const known = state.publishStates.get('team-a/web');
    state.publishStates.set('team-a/web', STATE);
    await state.close();
    return known;
  }

  const other = 'other term';
  it.each([
    {
      name: 'is kept over a restart, after which it leads again',
      terms: [undefined, 'a', 'b', 'c'],
      want: STATE,
    },
    {
      name: 'is forgotten when another process led in between',
      terms: [undefined, 'a', other, 'b'],
      want: undefined,
    },
    {
      name: 'is forgotten when the Lease was made again',
      terms: ['-', 'a', undefined, 'b'],
      want: undefined,
    },
    {
      name: 'is kept after another one was forgotten',
      terms: [undefined, 'a', other, 'b', 'c'],
      want: STATE,
    },
  ])('$name', async ({ terms, want }) => {
    let known: unknown;
    let previous = terms[0];
    for (const term of terms.slice(1)) {
      if (term !== undefined && term !== other) known = await leads(previous, term);
      previous = term;
    }
    expect(known).toEqual(want);
  });

  it('is kept by a controller that begins to be elected, unless others were before', async () => {
    const state = open();
    state.publishStates.set('team-a/web', STATE);
    await state.close();
    expect(await leads(undefined, 'a')).toEqual(STATE);
    expect(await leads('x', 'y', { lease: 'berth-system/another' })).toBeUndefined();
  });

  it.each([
    { name: 'a term from before the one that it led', previous: '4@1000', want: STATE },
    { name: 'a later term, which another process led', previous: '6@3000', want: undefined },
    { name: 'a term of a Lease that was made again', previous: '0@3000', want: undefined },
    { name: 'no term', previous: undefined, want: undefined },
  ])('on a restored hub whose Lease shows $name', async ({ previous, want }) => {
    await leads('4@1000', '5@2000');
    expect(await leads(previous, '7@4000', { wasRestored: true })).toEqual(want);
  });

  it('is forgotten by the next process when this one is killed as soon as it has taken over', async () => {
    await leads(undefined, 'b');
    // Its time stands still: what waits to be written later never is.
    const killed = open(new FakeClock());
    killed.takeOver({ lease: LEASE, term: 'd', previousTerm: 'c' }, { wasRestored: false });
    const terms = () => readFileSync(join(dataDir, 'led-terms.json.journal'), 'utf8');
    await expect.poll(terms).toContain(`["${LEASE}","d"]`);
    const copy = mkdtempSync(join(tmpdir(), 'berth-killed-'));
    cpSync(dataDir, copy, { recursive: true });
    const next = open(systemClock, copy);
    next.takeOver({ lease: LEASE, term: 'e', previousTerm: 'd' }, { wasRestored: false });
    expect(next.publishStates.get('team-a/web')).toBeUndefined();
    await Promise.all([killed.close(), next.close()]);
    rmSync(copy, { recursive: true });
  });

  it('is forgotten when an earlier term is shown by a hub that was not restored', async () => {
    await leads('4@1000', '5@2000');
    expect(await leads('4@1000', '5@3000')).toBeUndefined();
  });
});
