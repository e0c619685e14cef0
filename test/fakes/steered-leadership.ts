import type { Leadership, LeadershipStatus, TakeOver } from '@berth/kube/leader-election/leadership';
import { WaitList } from '@berth/runtime/loop/sleep';

/** A process stands by, leads or loses its lease when the test says so. */
export class SteeredLeadership implements Leadership {
  isHeld = false;
  #term = 1;
  problem: string | undefined;
  #hasLed = false;
  readonly #listeners: ((takeOver: TakeOver) => void)[] = [];
  readonly #waiting = new WaitList();

  /** @param previousTerm as the Lease shows it */
  take(previousTerm = String(this.#term), term = String(this.#term + 1)): void {
    this.#term += 1;
    this.#hasLed = true;
    const takeOver = { lease: 'berth-system/berth-fleet', term, previousTerm };
    for (const listener of this.#listeners) listener(takeOver);
    this.renew();
  }

  lapse(): void {
    this.isHeld = false;
  }

  renew(): void {
    this.isHeld = true;
    this.#waiting.wake();
  }

  onTakeOver(listener: (takeOver: TakeOver) => void): void {
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
    const { problem } = this;
    const transitions = this.#term;
    return { role, lease: 'berth-system/berth-fleet', identity: 'this', holder, transitions, problem };
  }
}
