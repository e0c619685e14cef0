import { TransientError } from '@berth/runtime/errors';
import type { Lease, LeaseStore, StoredLease } from '../../src/leader-election/lease.ts';
import type { FakeClock } from '@berth/test-kit/fake-clock';
import type { MemoryLeaseStore } from './memory-lease-store.ts';
import type { ProcessClock } from './simulated-process.ts';

/** May be changed at any time. */
export interface NetworkFaults {
  /** Of a request or its answer to be lost. */
  lost: number;
  /** Of a request to be on its way for much longer than anybody waits for it. */
  late: number;
  /** One way, of what is neither lost nor late. */
  slowestMs: number;
}

const TIMEOUT_MS = 5_000;
const LATE_MS = 60_000;

interface Way {
  readonly inner: MemoryLeaseStore;
  readonly snapshot: FakeClock;
  readonly clock: ProcessClock;
  readonly random: () => number;
  readonly faults: NetworkFaults;
  /** Called when an answer was delivered. */
  readonly onAnswer: () => void;
}

/** The way of one process to the lease: requests and answers take their time, get lost, or arrive long after they were given up. */
export class FaultyLeaseStore implements LeaseStore {
  readonly name = 'test/lease';
  readonly #way: Way;

  constructor(way: Way) {
    this.#way = way;
  }

  read = (): Promise<StoredLease | undefined> => this.#send(() => this.#way.inner.read());
  create = (lease: Lease): Promise<StoredLease> => this.#send(() => this.#way.inner.create(lease));
  replace = (before: StoredLease, lease: Lease): Promise<StoredLease> =>
    this.#send(() => this.#way.inner.replace(before, lease));

  #send<T>(request: () => Promise<T>): Promise<T> {
    const { snapshot, clock, random, faults, onAnswer } = this.#way;
    return new Promise((resolve, reject) => {
      const deliver = (answer: () => void): void =>
        clock.whenAwake(() => {
          answer();
          snapshot.schedule(0, onAnswer);
        });
      const giveUp = (): void =>
        deliver(() => reject(new TransientError('no answer', { code: 'test.timeout', subject: 'lease' })));
      snapshot.schedule(TIMEOUT_MS, giveUp);
      if (random() < faults.lost) return;
      const onWayMs = random() < faults.late ? random() * LATE_MS : random() ** 4 * faults.slowestMs;
      const isAnswerLost = random() < faults.lost;
      snapshot.schedule(onWayMs, () => {
        request().then(
          (stored) =>
            isAnswerLost ||
            snapshot.schedule(random() ** 4 * faults.slowestMs, () => deliver(() => resolve(stored))),
          (error: Error) =>
            isAnswerLost || snapshot.schedule(random() * 100, () => deliver(() => reject(error))),
        );
      });
    });
  }
}
