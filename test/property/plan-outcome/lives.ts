import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@berth/runtime/clock/system-clock';
import type { ServeOptions } from '../../../src/app/settings/serve-options.ts';
import { HistoryReader } from '../../../src/adapters/store/history-store.ts';
import type { ControllerEvent } from '../../../src/controllers/events/controller-events.ts';
import type { RunningController } from '../../../src/app/serve/serve-controller.ts';
import type { DecisionRecord } from '../../../src/core/publish/record/decision-record.ts';
import type { ServedFleet } from '../../app/serve/served-fleet.ts';
import { DiskLife } from '@berth/test-kit/mortal-disk';
import { type Life, MortalKubeApi } from '@berth/test-kit/mortal-kube-api';

export interface Death {
  /** So many writes to the hub from now on. */
  readonly writes: number;
  /** The last of them is carried out. */
  readonly lastIsDone: boolean;
}

/**
 * One controller process after the other over one data directory, each of which may be killed at a write to the hub. Its test file has to
 * mock `node:fs/promises` with `mortalFs`.
 */
export class Lives {
  readonly #fleet: ServedFleet;
  readonly #root = mkdtempSync(join(tmpdir(), 'berth-lives-'));
  readonly #over: Partial<ServeOptions>;
  #life: Life | undefined;
  #controller: RunningController | undefined;
  #count = 0;
  /** What the process before did. */
  #earlier: readonly ControllerEvent[] = [];

  constructor(fleet: ServedFleet, over: Partial<ServeOptions>) {
    this.#fleet = fleet;
    this.#over = over;
    mkdirSync(join(this.#root, 'data'));
  }

  get isDead(): boolean {
    return this.#life?.dead === true;
  }

  async begin(): Promise<void> {
    const dataDir = join(this.#root, `life-${++this.#count}`);
    // A dead process is distinguished from the next one by the name of its directory.
    symlinkSync(join(this.#root, 'data'), dataDir);
    const disk = new DiskLife(dataDir);
    const life: Life = {
      get dead() {
        return disk.dead;
      },
      set dead(dead: boolean) {
        disk.dead = dead;
      },
      writesLeft: Infinity,
      lastIsDone: false,
    };
    const clock = {
      now: () => systemClock.now(),
      // What a dead process would have done later, it does not do.
      schedule: (ms: number, callback: () => void) => systemClock.schedule(ms, () => life.dead || callback()),
    };
    this.#life = life;
    const api = new MortalKubeApi(this.#fleet.hub.api, life);
    this.#controller = await this.#fleet.serve({ embedded: false, ...this.#over, dataDir, clock, api });
  }

  /** Resolves when the process that lives has read and published everything once. */
  async whenReady(): Promise<void> {
    await this.#controller?.whenReady();
  }

  /** The process that lives looks at its sources now. */
  reconcile(): void {
    this.#controller?.reconcile();
  }

  /** What all processes so far recorded, oldest first. */
  records(): Promise<readonly DecisionRecord[]> {
    return new HistoryReader(join(this.#root, 'data', 'history')).list();
  }

  dieAfter({ writes, lastIsDone }: Death): void {
    if (this.#life !== undefined) Object.assign(this.#life, { writesLeft: writes, lastIsDone });
  }

  /** Kills the process, if it lives, and begins the next one. */
  async killAndBegin(): Promise<void> {
    if (this.#life !== undefined) this.#life.dead = true;
    this.#earlier = [...this.#fleet.events];
    void this.#fleet.stop();
    await this.begin();
  }

  /** What the last two processes did, and what they remember: for a person who looks into a difference. */
  trace(events: readonly ControllerEvent[]): string {
    const read = (file: string): readonly string[] => {
      const path = join(this.#root, 'data', file);
      return existsSync(path) ? [`${file}: ${readFileSync(path, 'utf8')}`] : [];
    };
    const kept = ['publish-state.json', 'approved-plans.json', 'last-transition.json'];
    const did = (all: readonly ControllerEvent[]): readonly string[] =>
      all.map((event) =>
        event.kind === 'decided'
          ? `${event.atMs} decided ${event.placement} ${event.result.selected.join()} in ${event.snapshot.now}`
          : JSON.stringify(event),
      );
    return [
      ...did(this.#earlier),
      'the last process:',
      ...did(events),
      ...kept.flatMap((file) => [...read(file), ...read(`${file}.journal`)]),
    ].join('\n');
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}
