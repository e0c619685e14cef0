import { describe, expect, it } from 'vitest';
import { LeaderElector } from '../../src/leader-election/leader-elector.ts';
import { DEFAULT_TIMING } from '../../src/leader-election/lease.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { seeded, seedsFrom } from '@berth/test-kit/seeded-random';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { FaultyLeaseStore, type NetworkFaults } from './faulty-lease-store.ts';
import { MemoryLeaseStore } from './memory-lease-store.ts';
import { ProcessClock } from './simulated-process.ts';

/** BERTH_SEED sets the first one. */
const SEEDS = seedsFrom(1, 150);
const MINUTES = 10;
/** A lease of 15 s and a deadline of 10 s leave room for clocks that are wrong by a fifth; two of them by a tenth each. */
const DRIFT = 0.1;
const LONGEST_PAUSE_MS = 90_000;

class Snapshot {
  readonly clock = new FakeClock();
  readonly store = new MemoryLeaseStore();
  readonly faults: NetworkFaults = { lost: 0, late: 0, slowestMs: 3_000 };
  readonly random: () => number;
  readonly processes: SimulatedProcess[];
  /** When two might have written, or one after another that it must have given way to. */
  readonly overlaps: string[] = [];
  readonly #writers: string[] = [];
  takeOvers = 0;
  leaderlessMs = 0;

  constructor(seed: number) {
    this.random = seeded(seed);
    this.processes = Array.from({ length: 2 + (seed % 2) }, (_, at) => new SimulatedProcess(this, `p${at}`));
  }

  readonly check = (): void => {
    const writers = this.processes.filter(({ mayWrite }) => mayWrite).map(({ identity }) => identity);
    if (writers.length > 1) this.overlaps.push(`${this.clock.monotonicMs()}: ${writers.join(' ')}`);
    for (const writer of writers) this.#wrote(writer);
  };

  /** What a process remembers may be wrong once another one wrote: it must not write again. */
  #wrote(writer: string): void {
    const last = this.#writers.at(-1);
    if (writer === last) return;
    if (this.#writers.includes(writer))
      this.overlaps.push(`${this.clock.monotonicMs()}: ${writer} again after ${last}`);
    this.#writers.push(writer);
  }

  async run(minutes: number): Promise<void> {
    for (let step = 0; step < minutes * 60; step++) {
      this.#disturb();
      await this.clock.advance(1_000);
      this.check();
      if (!this.processes.some(({ mayWrite }) => mayWrite)) this.leaderlessMs += 1_000;
    }
  }

  #disturb(): void {
    if (this.random() < 0.02) this.faults.lost = this.random() < 0.5 ? 0 : this.random();
    if (this.random() < 0.02) this.faults.late = this.random() < 0.5 ? 0 : this.random() * 0.5;
    for (const process of this.processes) process.disturb();
  }
}

class SimulatedProcess {
  readonly #snapshot: Snapshot;
  readonly #name: string;
  #starts = 0;
  #clock!: ProcessClock;
  #elector!: LeaderElector;
  #goesOnAtMs: number | undefined;
  #isEnding = false;

  constructor(snapshot: Snapshot, name: string) {
    this.#snapshot = snapshot;
    this.#name = name;
    this.#start();
  }

  get identity(): string {
    return `${this.#name}_${this.#starts}`;
  }

  /** By its own clocks, at this moment of true time; also of one that is paused, which would write when it goes on. */
  get mayWrite(): boolean {
    return this.#elector.isHeld;
  }

  disturb(): void {
    const { random, clock: snapshot } = this.#snapshot;
    const nowMs = snapshot.monotonicMs();
    if (this.#goesOnAtMs !== undefined) {
      if (nowMs < this.#goesOnAtMs) return;
      this.#goesOnAtMs = undefined;
      this.#clock.goOn((due) => [...due].sort(() => random() - 0.5));
    }
    const draw = random();
    if (draw < 0.01) this.#pause(random() ** 2 * LONGEST_PAUSE_MS);
    else if (draw < 0.015) this.#clock.setWall(clockStepMs(random));
    else if (draw < 0.02) this.#end();
    else if (draw < 0.022) this.#kill();
    else this.startAgainIfLost();
  }

  startAgainIfLost(): void {
    if (this.#elector.status().role === 'lost') this.#kill();
  }

  heal(): void {
    this.#goesOnAtMs = undefined;
    this.#clock.goOn((due) => due);
  }

  #pause(forMs: number): void {
    const { random, clock: snapshot } = this.#snapshot;
    this.#goesOnAtMs = snapshot.monotonicMs() + forMs;
    this.#clock.pause(random() < 0.3);
  }

  /** SIGTERM: what writes has ended by then. */
  #end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    void this.#elector.close().then(() => {
      this.#isEnding = false;
      this.#start();
    });
  }

  /** SIGKILL: nothing of it runs any more, and it writes nothing. */
  #kill(): void {
    if (this.#isEnding) return;
    this.#clock.pause(false);
    this.#start();
  }

  #start(): void {
    const { random, clock: snapshot, store, faults, check } = this.#snapshot;
    this.#starts += 1;
    this.#clock = new ProcessClock(snapshot, 1 + DRIFT * (2 * random() - 1), (random() - 0.5) * 1e9);
    this.#elector = new LeaderElector({
      store: new FaultyLeaseStore({
        inner: store,
        snapshot,
        clock: this.#clock,
        random,
        faults,
        onAnswer: check,
      }),
      identity: this.identity,
      timing: DEFAULT_TIMING,
      clock: this.#clock,
      random,
      log: new SilentLogger(),
    });
    this.#elector.onTakeOver(() => (this.#snapshot.takeOvers += 1));
    this.#elector.start();
  }
}

/**
 * Not back by about as much as a machine sleeps at most: one that is set back by just so much as it slept shows no time passed by either
 * clock, and nothing in it can tell.
 */
function clockStepMs(random: () => number): number {
  return random() < 0.5 ? random() * 300_000 : -LONGEST_PAUSE_MS - 2_000 - random() * 300_000;
}

describe('electors over a faulty store, with pauses, clocks that drift and are set, ends and kills', () => {
  it('never let two of them write at the same moment of true time, and elect one when the faults are over', async () => {
    let [takeOvers, leaderlessMs] = [0, 0];
    for (const seed of SEEDS) {
      const snapshot = new Snapshot(seed);
      await snapshot.run(MINUTES);
      expect(snapshot.overlaps, `seed ${seed}`).toEqual([]);
      Object.assign(snapshot.faults, { lost: 0, late: 0, slowestMs: 300 });
      for (const process of snapshot.processes) process.heal();
      // What is late by a minute has come by then.
      await snapshot.clock.advance(60_000);
      for (const process of snapshot.processes) process.startAgainIfLost();
      await snapshot.clock.advance(25_000);
      snapshot.check();
      expect(snapshot.overlaps, `seed ${seed}`).toEqual([]);
      expect(
        snapshot.processes.filter(({ mayWrite }) => mayWrite),
        `seed ${seed}`,
      ).toHaveLength(1);
      takeOvers += snapshot.takeOvers;
      leaderlessMs += snapshot.leaderlessMs;
    }
    // It would prove nothing if nobody ever led, or nobody ever changed.
    expect(takeOvers).toBeGreaterThan(5 * SEEDS.length);
    expect(leaderlessMs).toBeLessThan(0.7 * SEEDS.length * MINUTES * 60_000);
  });
});
