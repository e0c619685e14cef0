import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FairShare, NoRoomError, Release } from './fair-share.ts';

/** Bytes of answers that one user may leave unread before its requests are refused and its streams are cut. */
export const USER_UNREAD_BYTES = 64 * 1024 * 1024;

/** One request, with its share of its priority level until its answer has been read. */
export interface Exchange {
  /** Waits for room for a body of so many bytes. @throws StatusError 429 */
  takeBodyRoom(bytes: number): void | Promise<void>;
  /** Waits for a seat: the right to be processed. @throws StatusError 429 */
  takeSeat(): void | Promise<void>;
  /** The work is done: gives back the seat and the room of the body. What remains is to send the answer. */
  finishWork(): void;
  /**
   * An answer of so many bytes waits to be taken.
   * @param refusable false for the answer of a write: it has happened already
   * @throws StatusError 429 when too much of what the user asked for waits already
   */
  holdAnswer(bytes: number, refusable: boolean): void;
  /** Waits until this request may use the processor for the next part of a long answer. @throws StatusError 429 */
  nextPart(): Promise<void>;
  /** The request has become a watch and counts as one from now on. @throws StatusError 429 */
  becomeWatch(): void;
  /**
   * @param bytes what the client has not taken of the stream
   * @param measure reads that number again later
   * @returns false when the stream must be cut
   */
  noteUnread(bytes: number, measure: () => number): boolean;
  /** The answer has been taken, or the client is gone. */
  leave(): void;
}

export type RejectReason = 'open-requests' | 'watches' | 'unread-answers' | NoRoomError['reason'];

/** The share of one user in one level. */
export class UserUse {
  readonly name: string;
  open = 0;
  watches = 0;
  /** Bytes of answers that the user has not taken; those of streams as they were at their last write. */
  unreadBytes = 0;
  readonly exchanges = new Set<LimitedExchange>();

  constructor(name: string) {
    this.name = name;
  }

  /** @param moreBytes about to be added */
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
  /** The next part of a long answer: one part in each turn of the event loop. */
  readonly parts: FairShare;
  open: number;
  watches: number;
  /** Waits for room in a share. @throws StatusError 429 */
  take(share: FairShare, user: string, amount: number): Release | Promise<Release>;
  /** Counts one more watch. @throws StatusError 429 */
  addWatch(use: UserUse): void;
  /** Counts the refusal. @returns the error that says so, StatusError 429 */
  reject(reason: RejectReason): Error;
  /** Forgets a user who holds nothing any more. */
  forget(use: UserUse): void;
}

const nothing = (): void => undefined;

/** The exchange of callers without limits: administrators and the public paths. */
export const EXEMPT_EXCHANGE: Exchange = {
  takeBodyRoom: nothing,
  takeSeat: nothing,
  finishWork: nothing,
  holdAnswer: nothing,
  nextPart: () => nextTurn(),
  becomeWatch: nothing,
  noteUnread: () => true,
  leave: nothing,
};

export class LimitedExchange implements Exchange {
  readonly #level: ExchangeLevel;
  readonly #use: UserUse;
  #held: Release[] = [];
  #watching = false;
  #left = false;
  #unreadBytes = 0;
  #measure: (() => number) | undefined;

  constructor(level: ExchangeLevel, use: UserUse) {
    this.#level = level;
    this.#use = use;
  }

  takeBodyRoom(bytes: number): void | Promise<void> {
    return this.#hold(this.#level.take(this.#level.bodies, this.#use.name, bytes));
  }

  takeSeat(): void | Promise<void> {
    return this.#hold(this.#level.take(this.#level.seats, this.#use.name, 1));
  }

  finishWork(): void {
    for (const release of this.#held.splice(0)) release();
  }

  holdAnswer(bytes: number, refusable: boolean): void {
    // One answer is always allowed, however large: it could be read in no other way.
    const others = this.#use.unreadBytes > 0;
    if (refusable && others && this.#use.isOverUnreadLimit(bytes)) throw this.#level.reject('unread-answers');
    this.#setUnread(bytes);
  }

  async nextPart(): Promise<void> {
    const release = await this.#level.take(this.#level.parts, this.#use.name, 1);
    setImmediate(release);
  }

  becomeWatch(): void {
    this.#level.addWatch(this.#use);
    this.#watching = true;
    this.#use.open -= 1;
    this.#level.open -= 1;
  }

  noteUnread(bytes: number, measure: () => number): boolean {
    this.#measure = measure;
    if (bytes !== this.#unreadBytes) this.#setUnread(bytes);
    if (!this.#use.isOverUnreadLimit(0)) return true;
    // Only a stream that has more than its part of the limit is cut: those that are read go on.
    return this.#unreadBytes <= USER_UNREAD_BYTES / this.#use.exchanges.size;
  }

  /** What was read since the last write is known only by measuring again. */
  measure(): void {
    if (this.#measure !== undefined) this.#setUnread(this.#measure());
  }

  leave(): void {
    if (this.#left) return;
    this.#setUnread(0);
    this.#left = true;
    this.finishWork();
    this.#use.exchanges.delete(this);
    const counted = this.#watching ? 'watches' : 'open';
    this.#use[counted] -= 1;
    this.#level[counted] -= 1;
    this.#level.forget(this.#use);
  }

  #hold(taken: Release | Promise<Release>): void | Promise<void> {
    if (typeof taken !== 'function') return taken.then((release) => this.#keep(release));
    this.#keep(taken);
  }

  #keep(release: Release): void {
    // The client may have gone while its request waited.
    if (this.#left) release();
    else this.#held.push(release);
  }

  #setUnread(bytes: number): void {
    if (this.#left) return;
    this.#use.unreadBytes += bytes - this.#unreadBytes;
    this.#unreadBytes = bytes;
  }
}
