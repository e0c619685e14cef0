import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatLocation } from '@berth/runtime/problem/source-location';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { Clock } from '@berth/runtime/clock/clock';
import { possibleIdentities } from '../../../core/sync/plan-prune.ts';
import { AwaitedMoves } from './awaited-moves.ts';
import { DeletionOrder } from './deletion-order.ts';
import { FirstReads } from './first-reads.ts';
import { FreshFetches } from './fresh-fetches.ts';
import type { SourceEvent } from './source-events.ts';

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
  /** Which objects may still move from one source to another. */
  readonly moves: AwaitedMoves;

  /** @param sources the sources that write to the hub, in the order of the settings; `ref`: see `AwaitedMoves` */
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
    this.moves = new AwaitedMoves(clock, sources);
  }

  /**
   * @param owns whether the source has the object on the hub, as far as it knows
   * @param commit the id of the commit that was read; undefined for a plain folder
   */
  claim(source: string, objects: readonly SourceObject[], owns: Entry['owns'], commit?: string): void {
    this.#entries.set(source, { objects, index: undefined, owns });
    this.#attempted(source);
    this.moves.claimed(source, commit);
  }

  /** Processes the events of sources. */
  handle({ kind, source }: Pick<SourceEvent, 'kind' | 'source'>): void {
    if (kind === 'fetching') this.fetches.begins(source);
    else if (kind === 'followed' || kind === 'failed') this.#attempted(source);
    if (kind === 'failed') this.moves.failed(source);
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
  hasReleased(source: string, identity: string): boolean {
    return this.#entries.has(source) && this.#find(source, identity) === undefined;
  }

  /** Another source that has the object on the hub, was read, and does not declare it. */
  leavingFrom(identity: string, besides: string): string | undefined {
    const owner = this.ownerOf(identity, besides);
    return owner !== undefined && this.hasReleased(owner, identity) ? owner : undefined;
  }

  /** Whether another source declares the object. Then it moves there and is not deleted. */
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
