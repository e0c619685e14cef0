import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { Clock } from '@berth/runtime/clock/clock';
import { formatLocation } from '@berth/runtime/problem/source-location';
import { possibleIdentities } from '../../../core/sync/plan-prune.ts';
import { DeletionOrder } from './deletion-order.ts';
import type { SourceEvent } from './source-events.ts';
import { FirstReads } from './source-ledger.ts';

/** How long to wait for the first read of a source. After that, the source has no precedence. */
const FIRST_READ_MS = 30_000;

interface Entry {
  objects: readonly SourceObject[];
  /** Built on first use from these objects. */
  index: ReadonlyMap<string, SourceObject> | undefined;
  owns: (identity: string) => boolean;
}

/**
 * The objects of all sources of this controller, so that an object in two of them is detected
 * before the second one writes it: the hub does not show it, since all of them write as one field
 * manager. An object that no source owns yet goes to the first source: those with `force` before
 * the others, then in the order of the settings.
 */
export class SourceClaims {
  readonly #order: readonly string[];
  readonly #entries = new Map<string, Entry>();
  readonly #reads: FirstReads;
  /** Must be complete before anything is deleted. */
  readonly fetches: FreshFetches;
  /** Which source judges its deletions first. */
  readonly deletions: DeletionOrder;
  /** Which objects may still be transferred from one source to another. */
  readonly transfers: AwaitedTransfers;

  /** @param sources the sources that write to the hub, in the order of the settings; `ref`: see `AwaitedTransfers` */
  constructor(
    clock: Clock,
    sources: readonly { readonly name: string; readonly force: boolean; readonly ref?: string | undefined }[],
  ) {
    const names = (force: boolean) =>
      sources.filter((source) => source.force === force).map(({ name }) => name);
    this.#order = [...names(true), ...names(false)];
    this.#reads = new FirstReads(clock, this.#order);
    this.fetches = new FreshFetches(clock, this.#order);
    this.deletions = new DeletionOrder(clock);
    this.transfers = new AwaitedTransfers(clock, sources);
  }

  /**
   * @param owns whether the source has the object on the hub, as far as it knows
   * @param commit the id of the commit that was read; undefined for a plain folder
   */
  claim(source: string, objects: readonly SourceObject[], owns: Entry['owns'], commit?: string): void {
    this.#entries.set(source, { objects, index: undefined, owns });
    this.#attempted(source);
    this.transfers.claimed(source, commit);
  }

  /** Processes the events of sources. */
  handle({ kind, source }: Pick<SourceEvent, 'kind' | 'source'>): void {
    if (kind === 'fetching') this.fetches.begins(source);
    else if (kind === 'followed' || kind === 'failed') this.#attempted(source);
    if (kind === 'failed') this.transfers.failed(source);
  }

  /** The source was read or failed, so that nothing waits for it any more. */
  #attempted(source: string): void {
    this.#reads.attempted(source);
    this.fetches.ends(source);
  }

  /** Whether a source was neither read nor skipped yet. */
  get isWaiting(): boolean {
    return this.#reads.waitingFor.length > 0;
  }

  /** Resolves when every source was read or failed once, after half a minute, or when aborted. */
  whenRead(signal: AbortSignal | undefined): Promise<void> {
    return this.#reads.whenOver(FIRST_READ_MS, signal);
  }

  /** Another source that has the object on the hub. */
  ownerOf(identity: string, besides: string): string | undefined {
    return this.#order.find(
      (source) => source !== besides && this.#entries.get(source)?.owns(identity) === true,
    );
  }

  /** Whether the source was read and does not declare the object, so that another source may take it. */
  hasGivenUp(source: string, identity: string): boolean {
    return this.#entries.has(source) && this.#find(source, identity) === undefined;
  }

  /** Another source that has the object on the hub, was read, and does not declare it. */
  leavingFrom(identity: string, besides: string): string | undefined {
    const owner = this.ownerOf(identity, besides);
    return owner !== undefined && this.hasGivenUp(owner, identity) ? owner : undefined;
  }

  /** Whether another source declares the object. Then it is transferred there and is not deleted. */
  isDeclaredElsewhere(source: string, identity: string): boolean {
    return this.#order.some((other) => other !== source && this.#find(other, identity) !== undefined);
  }

  /** Identities of all objects that other sources declare, on the hub or not. */
  *declaredElsewhere(source: string): Iterable<string> {
    for (const other of this.#order) if (other !== source) yield* this.#indexOf(other)?.keys() ?? [];
  }

  /** A source that declares the object and has precedence over this one. */
  precedingSource(identity: string, before: string): string | undefined {
    return this.#order
      .slice(0, this.#order.indexOf(before))
      .find((source) => this.#find(source, identity) !== undefined);
  }

  /** Where the source declares the object: `file:line:column`; undefined if it does not. */
  locationOf(source: string, identity: string): string | undefined {
    const found = this.#find(source, identity);
    return found === undefined ? undefined : formatLocation(found.location);
  }

  #find(source: string, identity: string): SourceObject | undefined {
    return this.#indexOf(source)?.get(identity);
  }

  /** The objects of the source by identity; undefined until it is read. */
  #indexOf(source: string): ReadonlyMap<string, SourceObject> | undefined {
    const entry = this.#entries.get(source);
    if (entry === undefined) return undefined;
    entry.index ??= new Map(
      entry.objects.flatMap((object) => identitiesOf(object.object).map((name) => [name, object] as const)),
    );
    return entry.index;
  }
}

/** Objects of unchanged files are identical (the same references) from commit to commit. */
const known = new WeakMap<KubeObject, readonly string[]>();

function identitiesOf(object: KubeObject): readonly string[] {
  let identities = known.get(object);
  if (identities === undefined) known.set(object, (identities = possibleIdentities(object)));
  return identities;
}

interface FetchTimes {
  began: number;
  /** Start time of the last completed fetch. */
  ended: number;
}

interface FreshRequest {
  readonly about: string;
  readonly at: number;
  readonly atMs: number;
  /** The source waits and was not notified yet. */
  isWaiting: boolean;
}

/** How long to wait for other sources to fetch again. */
const MAX_WAIT_MS = 30_000;

/**
 * Before objects that left one source are deleted, every other source fetches once more. The objects
 * may have been transferred to one of them, in the same commit or in an earlier one, and sources are polled one by one.
 * Nothing blocks: the source retries later, because two sources may wait for each other.
 */
export class FreshFetches {
  readonly #clock: Clock;
  readonly #fetches: ReadonlyMap<string, FetchTimes>;
  readonly #requests = new Map<string, FreshRequest>();
  #now = 0;
  #wanted: (source: string) => void = () => undefined;

  constructor(clock: Clock, sources: readonly string[]) {
    this.#clock = clock;
    this.#fetches = new Map(sources.map((source) => [source, { began: 0, ended: 0 }]));
  }

  /**
   * @param listener called for each source that must fetch immediately, or again after its current
   * fetch
   */
  onWanted(listener: (source: string) => void): void {
    this.#wanted = listener;
  }

  begins(source: string): void {
    const times = this.#fetches.get(source);
    if (times !== undefined) times.began = ++this.#now;
  }

  /** The current content of the source is known, or could not be read. */
  ends(source: string): void {
    const times = this.#fetches.get(source);
    if (times === undefined) return;
    times.ended = times.began;
    for (const [asking, request] of this.#requests)
      if (request.isWaiting && this.#isFulfilled(asking, request)) {
        request.isWaiting = false;
        this.#wanted(asking);
      }
  }

  /**
   * Whether all other sources have fetched since this source first asked about these deletions, or
   * took too long.
   * @param about identifies the deletions; '' for none, after which the next ones need new fetches
   */
  areFresh(source: string, about: string): boolean {
    if (about === '') {
      this.#requests.delete(source);
      return true;
    }
    let request = this.#requests.get(source);
    if (request?.about !== about) {
      request = { about, at: ++this.#now, atMs: this.#clock.now(), isWaiting: true };
      this.#requests.set(source, request);
      for (const other of this.#fetches.keys()) if (other !== source) this.#wanted(other);
    }
    return Math.abs(this.#clock.now() - request.atMs) >= MAX_WAIT_MS || this.#isFulfilled(source, request);
  }

  #isFulfilled(source: string, { at }: FreshRequest): boolean {
    return [...this.#fetches].every(([other, { ended }]) => other === source || ended > at);
  }
}

interface Reader {
  /** The ref that the source follows. Undefined: no other source follows the same one. */
  readonly ref: string | undefined;
  /** The commit whose content the source last claimed. */
  commit: string | undefined;
  /** Its last attempt failed. */
  hasFailed: boolean;
}

interface Wait {
  readonly commit: string;
  readonly sinceMs: number;
  /** The sources that have to read the commit. */
  readonly owners: Set<string>;
}

/**
 * Sources of the same ref read a commit one after the other. If the commit transfers an object from one of them to another,
 * the object still belongs to the first one until that source has read the commit, too. Until then this is no conflict,
 * and the commit is not complete. Nothing blocks: a source that must wait tries again later.
 */
export class AwaitedTransfers {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #readers: ReadonlyMap<string, Reader>;
  readonly #waits = new Map<string, Wait>();
  #onFree: (source: string) => void = () => undefined;

  /** @param sources the sources that write to the hub; `ref`: equal for those that follow the same ref of a repository */
  constructor(
    clock: Pick<Clock, 'now'>,
    sources: readonly { readonly name: string; readonly ref?: string | undefined }[],
  ) {
    this.#clock = clock;
    this.#readers = new Map(
      sources.map(({ name, ref }) => [name, { ref, commit: undefined, hasFailed: false }]),
    );
  }

  /** @param listener called for each source that waited and may try again */
  onFree(listener: (source: string) => void): void {
    this.#onFree = listener;
  }

  /** The source has read this commit. */
  claimed(source: string, commit: string | undefined): void {
    const reader = this.#readers.get(source);
    if (reader === undefined) return;
    reader.commit = commit;
    reader.hasFailed = false;
    if (this.#waits.get(source)?.commit !== commit) this.#waits.delete(source);
    this.#tellFree();
  }

  /** The source could not be read. */
  failed(source: string): void {
    const reader = this.#readers.get(source);
    if (reader === undefined) return;
    reader.hasFailed = true;
    this.#tellFree();
  }

  /** Whether an object may be transferred from the owner to the source by the commit of the source, which the owner has not read yet. */
  mustWait(source: string, owner: string): boolean {
    const { commit } = this.#readers.get(source) ?? {};
    if (commit === undefined || !this.#isBehind(owner, source)) return false;
    let wait = this.#waits.get(source);
    if (wait?.commit !== commit)
      this.#waits.set(source, (wait = { commit, sinceMs: this.#clock.now(), owners: new Set() }));
    wait.owners.add(owner);
    return Math.abs(this.#clock.now() - wait.sinceMs) < MAX_WAIT_MS;
  }

  #isBehind(owner: string, source: string): boolean {
    const [other, own] = [this.#readers.get(owner), this.#readers.get(source)];
    if (other === undefined || own?.ref === undefined || other.ref !== own.ref) return false;
    return other.commit !== own.commit && !other.hasFailed;
  }

  #tellFree(): void {
    for (const [source, { owners }] of this.#waits)
      if (![...owners].some((owner) => this.#isBehind(owner, source))) {
        this.#waits.delete(source);
        this.#onFree(source);
      }
  }
}
