import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FairShare, CapacityError, ReleaseFunction } from './fair-share.ts';

/** Bytes of responses that a user may leave unread. Above it, the user's requests are refused and its streams are closed. */
export const USER_UNREAD_BYTES = 64 * 1024 * 1024;

/**
 * One request and its use of its priority level's limits: memory for its body, a seat, unread bytes. It lasts until the client has
 * read the response. Seats are those of API Priority and Fairness in kube-apiserver.
 */
export interface Exchange {
  /**
   * Waits until memory for a body of `bytes` is free, and reserves it.
   * @throws StatusError 429
   */
  reserveBody(bytes: number): void | Promise<void>;
  /**
   * Waits for a seat: at most as many requests are processed at once as the level has seats.
   * @throws StatusError 429
   */
  takeSeat(): void | Promise<void>;
  /**
   * Releases the seat while `call` waits for another server, and takes one again afterwards.
   * @throws StatusError 429 when none becomes free
   */
  waitOutside<T>(call: () => Promise<T>): Promise<T>;
  /** Releases the seat and the memory of the body. Called when the request is processed and its response is still to be sent. */
  finishWork(): void;
  /**
   * Counts a response as unread.
   * @param bytes size of the response
   * @param refusable false for the response to a write, which cannot be undone any more
   * @throws StatusError 429 when the user has too many unread bytes
   */
  countResponse(bytes: number, refusable: boolean): void;
  /**
   * Waits until this request may write the next part of a long response.
   * @throws StatusError 429
   */
  nextPart(): Promise<void>;
  /**
   * Counts the request as a watch from now on.
   * @throws StatusError 429
   */
  becomeWatch(): void;
  /**
   * Updates the number of unread bytes of a stream.
   * @param bytes number of bytes that the client has not read
   * @param measure returns the current number of these bytes
   * @returns false when the stream must be closed
   */
  updateUnread(bytes: number, measure: () => number): boolean;
  /** Ends the exchange: the client has read the response, or has disconnected. */
  leave(): void;
}

export type RejectReason = 'open-requests' | 'watches' | 'unread-answers' | CapacityError['reason'];

/** What the requests of one user use of one priority level. */
export class UserUsage {
  readonly name: string;
  openRequests = 0;
  watches = 0;
  /** Unread bytes of all responses; for a stream, the number at its last write. */
  unreadBytes = 0;
  readonly exchanges = new Set<LimitedExchange>();

  constructor(name: string) {
    this.name = name;
  }

  /** @param moreBytes bytes that are about to be added */
  isOverUnreadLimit(moreBytes: number): boolean {
    if (this.unreadBytes + moreBytes <= USER_UNREAD_BYTES) return false;
    for (const exchange of this.exchanges) exchange.measure();
    return this.unreadBytes + moreBytes > USER_UNREAD_BYTES;
  }
}

/** The part of a priority level that an exchange uses. */
export interface ExchangeLevel {
  readonly seats: FairShare;
  readonly bodies: FairShare;
  /** Limits long responses to one part in each turn of the event loop. */
  readonly parts: FairShare;
  openRequests: number;
  watches: number;
  /**
   * Waits until the share has `amount` free for the user, and takes it.
   * @throws StatusError 429
   */
  take(share: FairShare, user: string, amount: number): ReleaseFunction | Promise<ReleaseFunction>;
  /**
   * Counts one more watch.
   * @throws StatusError 429
   */
  addWatch(use: UserUsage): void;
  /**
   * Counts the refusal in the metrics.
   * @returns StatusError 429
   */
  reject(reason: RejectReason): Error;
  /** Removes the user when none of its requests are left. */
  forget(use: UserUsage): void;
}

const noOp = (): void => undefined;

/** The exchange of requests without limits: those of administrators, and those to public paths. */
export const EXEMPT_EXCHANGE: Exchange = {
  reserveBody: noOp,
  takeSeat: noOp,
  waitOutside: (call) => call(),
  finishWork: noOp,
  countResponse: noOp,
  nextPart: () => nextTurn(),
  becomeWatch: noOp,
  updateUnread: () => true,
  leave: noOp,
};

export class LimitedExchange implements Exchange {
  readonly #level: ExchangeLevel;
  readonly #use: UserUsage;
  #held: ReleaseFunction[] = [];
  #seat: ReleaseFunction | undefined;
  #watching = false;
  #left = false;
  #unreadBytes = 0;
  #measure: (() => number) | undefined;

  constructor(level: ExchangeLevel, use: UserUsage) {
    this.#level = level;
    this.#use = use;
  }

  reserveBody(bytes: number): void | Promise<void> {
    return this.#hold(this.#level.take(this.#level.bodies, this.#use.name, bytes));
  }

  takeSeat(): void | Promise<void> {
    const taken = this.#level.take(this.#level.seats, this.#use.name, 1);
    if (typeof taken !== 'function') return taken.then((release) => this.#keepSeat(release));
    this.#keepSeat(taken);
  }

  async waitOutside<T>(call: () => Promise<T>): Promise<T> {
    this.#releaseSeat();
    const result = await call();
    await this.takeSeat();
    return result;
  }

  finishWork(): void {
    this.#releaseSeat();
    for (const release of this.#held.splice(0)) release();
  }

  countResponse(bytes: number, refusable: boolean): void {
    // A user without unread bytes may always receive one response, however large: otherwise nobody could read it.
    const hasUnread = this.#use.unreadBytes > 0;
    if (refusable && hasUnread && this.#use.isOverUnreadLimit(bytes))
      throw this.#level.reject('unread-answers');
    this.#setUnread(bytes);
  }

  async nextPart(): Promise<void> {
    const release = await this.#level.take(this.#level.parts, this.#use.name, 1);
    setImmediate(release);
  }

  becomeWatch(): void {
    this.#level.addWatch(this.#use);
    this.#watching = true;
    this.#use.openRequests -= 1;
    this.#level.openRequests -= 1;
  }

  updateUnread(bytes: number, measure: () => number): boolean {
    this.#measure = measure;
    if (bytes !== this.#unreadBytes) this.#setUnread(bytes);
    if (!this.#use.isOverUnreadLimit(0)) return true;
    // Close only streams with more than an equal part of the limit, so that streams that are being read continue.
    return this.#unreadBytes <= USER_UNREAD_BYTES / this.#use.exchanges.size;
  }

  /** Updates the number of unread bytes: the client may have read some since the last write. */
  measure(): void {
    if (this.#measure !== undefined) this.#setUnread(this.#measure());
  }

  leave(): void {
    if (this.#left) return;
    this.#setUnread(0);
    this.#left = true;
    this.finishWork();
    this.#use.exchanges.delete(this);
    const counted = this.#watching ? 'watches' : 'openRequests';
    this.#use[counted] -= 1;
    this.#level[counted] -= 1;
    this.#level.forget(this.#use);
  }

  #hold(taken: ReleaseFunction | Promise<ReleaseFunction>): void | Promise<void> {
    if (typeof taken !== 'function') return taken.then((release) => this.#keep(release));
    this.#keep(taken);
  }

  #keep(release: ReleaseFunction): void {
    // The client may have disconnected while its request waited.
    if (this.#left) release();
    else this.#held.push(release);
  }

  #keepSeat(release: ReleaseFunction): void {
    if (this.#left) release();
    else this.#seat = release;
  }

  #releaseSeat(): void {
    this.#seat?.();
    this.#seat = undefined;
  }

  #setUnread(bytes: number): void {
    if (this.#left) return;
    this.#use.unreadBytes += bytes - this.#unreadBytes;
    this.#unreadBytes = bytes;
  }
}
