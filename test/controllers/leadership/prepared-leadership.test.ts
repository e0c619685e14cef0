import { beforeEach, describe, expect, it } from 'vitest';
import { PreparedLeadership } from '../../../src/controllers/leadership/prepared-leadership.ts';
import { TransientError } from '@berth/runtime/errors';
import type { TakeOver } from '@berth/kube/leader-election/leadership';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { SteeredLeadership } from '../../fakes/steered-leadership.ts';

describe('PreparedLeadership', () => {
  let clock: FakeClock;
  let inner: SteeredLeadership;
  let prepared: PreparedLeadership;
  let supervisor: Supervisor;
  /** One for each check that was begun and has no answer yet. */
  let answers: { ok: () => void; fail: () => void }[];
  let told: TakeOver[];
  let seen: string[];
  /** Resolves when what is published has been read. */
  let read: Promise<void>;

  beforeEach(() => {
    [clock, inner, answers, told, seen] = [new FakeClock(), new SteeredLeadership(), [], [], []];
    read = Promise.resolve();
    const log = new SilentLogger();
    supervisor = new Supervisor({ clock, random: () => 0, log });
    const lookFirst = () =>
      new Promise<void>((resolve, reject) =>
        answers.push({
          ok: resolve,
          fail: () => reject(new TransientError('no answer', { code: 'test', subject: 'hub' })),
        }),
      );
    const readPublished = () => {
      seen.push('reads what is published');
      return read;
    };
    prepared = new PreparedLeadership({ inner, lookFirst, readPublished, clock, log });
    prepared.onTakeOver((takeOver) => told.push(takeOver));
    prepared.start(supervisor);
    void prepared.whenHeld(supervisor.signal).then(() => seen.push('held'));
    void prepared.whenDecided(supervisor.signal).then(() => seen.push('decided'));
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  it('does not check, and is decided, while another process leads', async () => {
    await settle();
    expect([prepared.isHeld, answers.length, told, seen]).toEqual([false, 0, [], ['decided']]);
  });

  it('begins after the check, and tells of the take-over before that', async () => {
    inner.take();
    await settle();
    expect([prepared.isHeld, answers.length, told, seen]).toEqual([false, 1, [], ['decided']]);
    let heldWhenTold: boolean | undefined;
    prepared.onTakeOver(() => (heldWhenTold = prepared.isHeld));
    answers[0]?.ok();
    await settle();
    expect([prepared.isHeld, told.length, heldWhenTold]).toEqual([true, 1, false]);
    expect(seen).toEqual(['decided', 'reads what is published', 'held']);
  });

  it('begins only when it has read what is published', async () => {
    let done: () => void = () => undefined;
    read = new Promise((resolve) => (done = resolve));
    inner.take();
    await settle();
    answers[0]?.ok();
    await settle();
    expect([prepared.isHeld, told]).toEqual([false, []]);
    done();
    await settle();
    expect([prepared.isHeld, told.length]).toEqual([true, 1]);
  });

  it('is not decided before the check where it leads from the start', async () => {
    inner.take();
    void prepared.whenDecided(supervisor.signal).then(() => seen.push('decided later'));
    await settle();
    expect(seen).not.toContain('decided later');
    answers[0]?.ok();
    await settle();
    expect(seen).toContain('decided later');
  });

  it('looks again while the hub does not answer', async () => {
    inner.take();
    await settle();
    answers[0]?.fail();
    await settle();
    expect([prepared.isHeld, answers.length]).toEqual([false, 1]);
    await clock.advance(1_000);
    await settle();
    answers[1]?.ok();
    await settle();
    expect([prepared.isHeld, told.length]).toEqual([true, 1]);
  });

  it('is held only while the lease is, and does not check again when it is renewed', async () => {
    inner.take();
    await settle();
    answers[0]?.ok();
    await settle();
    inner.lapse();
    expect(prepared.isHeld).toBe(false);
    inner.renew();
    await settle();
    expect([prepared.isHeld, answers.length, told.length]).toEqual([true, 1, 1]);
  });

  it('ends while it waits for the lease, and while it waits to check again', async () => {
    await supervisor.close();
    expect(seen).toContain('held');
    expect([prepared.isHeld, told]).toEqual([false, []]);

    const other = new Supervisor({ clock, random: () => 0, log: new SilentLogger() });
    prepared.start(other);
    inner.take();
    await settle();
    answers[0]?.fail();
    await settle();
    await other.close();
    expect([prepared.isHeld, told]).toEqual([false, []]);
  });
});
