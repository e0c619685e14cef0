import { describe, expect, it } from 'vitest';
import { BugError, ConflictError, InputError, TransientError } from '../../src/errors.ts';
import { DONE, type ReconcileOutcome, runReconciler } from '../../src/loop/reconciler.ts';
import { Supervisor } from '../../src/loop/supervisor.ts';
import { WorkQueue } from '../../src/loop/work-queue.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const details = { code: 'test', subject: 'test' };

async function withReconciler(
  reconcile: (key: string) => Promise<ReconcileOutcome>,
  body: (queue: WorkQueue, clock: FakeClock, log: SilentLogger) => Promise<void>,
): Promise<void> {
  const clock = new FakeClock();
  const queue = new WorkQueue(clock);
  const log = new SilentLogger();
  const stop = new AbortController();
  const isRetryable = ({ code }: InputError): boolean => code === 'passes';
  const options = {
    name: 'test',
    queue,
    reconcile,
    concurrency: 2,
    clock,
    random: () => 0,
    log,
    isRetryable,
  };
  const running = runReconciler(options, stop.signal);
  try {
    await body(queue, clock, log);
  } finally {
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  }
}

describe('runReconciler', () => {
  it.each([
    { name: 'transient', error: new TransientError('x', details), atMs: 100 },
    {
      name: 'transient with a wish',
      error: new TransientError('x', { ...details, retryAfterMs: 7_000 }),
      atMs: 7_000,
    },
    { name: 'conflict', error: new ConflictError('x', details), atMs: 100 },
    { name: 'input', error: new InputError('x', details), atMs: 300_000 },
    { name: 'input that may pass', error: new InputError('x', { ...details, code: 'passes' }), atMs: 100 },
    { name: 'bug', error: new BugError('x', details), atMs: 100 },
    { name: 'foreign', error: new TypeError('x'), atMs: 100 },
  ])('a $name error is tried again after $atMs ms', async ({ error, atMs }) => {
    let calls = 0;
    const reconcile = async (): Promise<ReconcileOutcome> => {
      calls += 1;
      if (calls === 1) throw error;
      return DONE;
    };
    await withReconciler(reconcile, async (queue, clock) => {
      queue.add('a');
      await clock.advance(atMs - 1);
      expect(calls).toBe(1);
      await clock.advance(1);
      expect(calls).toBe(2);
      await clock.advance(3_600_000);
      expect(calls).toBe(2);
    });
  });

  it('an error that may pass is tried again at least every 30 s', async () => {
    let calls = 0;
    const reconcile = async (): Promise<ReconcileOutcome> => {
      calls += 1;
      throw new InputError('x', { ...details, code: 'passes' });
    };
    await withReconciler(reconcile, async (queue, clock) => {
      queue.add('a');
      await clock.advance(600_000);
      const before = calls;
      await clock.advance(300_000);
      expect(calls - before).toBe(10);
    });
  });

  it('a poison key backs off and stops no other', async () => {
    const calls = new Map<string, number>();
    const reconcile = async (key: string): Promise<ReconcileOutcome> => {
      calls.set(key, (calls.get(key) ?? 0) + 1);
      if (key === 'poison') throw new TypeError('boom');
      return DONE;
    };
    await withReconciler(reconcile, async (queue, clock) => {
      queue.add('poison');
      for (let i = 0; i < 50; i++) queue.add(`good-${i}`);
      await clock.advance(600_000);
      expect([...calls.keys()].filter((key) => key.startsWith('good'))).toHaveLength(50);
      expect(calls.get('poison')).toBeLessThan(40);
      expect(calls.get('poison')).toBeGreaterThan(10);
    });
  });

  it('begins nothing before it may, and nothing at all when it is to end', async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue(clock);
    const stop = new AbortController();
    const began: string[] = [];
    let open: () => void = () => undefined;
    const mayBegin = (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        open = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    const reconcile = async (key: string) => {
      began.push(key);
      return DONE;
    };
    const log = new SilentLogger();
    const options = { name: 'test', queue, reconcile, concurrency: 1, clock, random: () => 0, log, mayBegin };
    const running = runReconciler(options, stop.signal);
    queue.add('a');
    queue.add('b');
    await clock.advance(60_000);
    expect(began).toEqual([]);
    open();
    await clock.advance(1);
    expect(began).toEqual(['a']);
    stop.abort();
    await running;
    expect(began).toEqual(['a']);
  });

  it('comes back when asked', async () => {
    let calls = 0;
    const reconcile = async (): Promise<ReconcileOutcome> => {
      calls += 1;
      return { kind: 'requeue', afterMs: 1_000 };
    };
    await withReconciler(reconcile, async (queue, clock) => {
      queue.add('a');
      await clock.advance(5_000);
      expect(calls).toBe(6);
    });
  });
});

describe('Supervisor', () => {
  it('starts a failed loop again and leaves the others alone', async () => {
    const clock = new FakeClock();
    const supervisor = new Supervisor({ clock, random: () => 0, log: new SilentLogger() });
    let starts = 0;
    let steady = 0;
    const untilAbort = (signal: AbortSignal) =>
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    supervisor.start('breaks', async (signal) => {
      starts += 1;
      if (starts < 3) throw new Error('boom');
      await untilAbort(signal);
    });
    supervisor.start('steady', async (signal) => {
      steady += 1;
      await untilAbort(signal);
    });
    await clock.advance(10_000);
    expect({ starts, steady }).toEqual({ starts: 3, steady: 1 });
    await supervisor.close();
    expect(clock.pendingTimers).toBe(0);
  });
});
