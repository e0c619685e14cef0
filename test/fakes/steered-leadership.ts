import type { Leadership, LeadershipStatus } from '../../src/runtime/leader-election/leadership.ts';
import { WaitList } from '../../src/runtime/wait-list.ts';

/** A process stands by, leads or loses its lease when the test says so. */
export class SteeredLeadership implements Leadership {
  isHeld = false;
  transitions = 1;
  problem: string | undefined;
  #hasLed = false;
  readonly #listeners: (() => void)[] = [];
  readonly #waiting = new WaitList();

  take(transitions = this.transitions + 1): void {
    this.transitions = transitions;
    this.#hasLed = true;
    for (const listener of this.#listeners) listener();
    this.renew();
  }

  lapse(): void {
    this.isHeld = false;
  }

  renew(): void {
    this.isHeld = true;
    this.#waiting.wake();
  }

  onTakeOver(listener: () => void): void {
    this.#listeners.push(listener);
  }

  whenHeld(signal: AbortSignal): Promise<void> {
    return this.#waiting.until(() => this.isHeld, signal);
  }

  whenDecided(): Promise<void> {
    return Promise.resolve();
  }

  status(): LeadershipStatus {
    const role = this.isHeld ? 'leading' : this.#hasLed ? 'lapsed' : 'standby';
    const holder = this.#hasLed ? 'this' : 'the-other';
    const { transitions, problem } = this;
    return { role, lease: 'berth-system/berth-fleet', identity: 'this', holder, transitions, problem };
  }
}
