import { PLACEMENT } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { Clock } from '@berth/runtime/clock/clock';
import { Subscribers } from '@berth/runtime/loop/subscribers';
import { formatLocation } from '@berth/runtime/problem/source-location';
import { possibleIdentities } from '../../../core/sync/plan-prune.ts';
import type { SourceContent } from '../manifests/source-content.ts';
import { FirstReads } from './source-ledger.ts';
import type { SourceEvent } from './source-options.ts';

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
export class SourceDeclarations {
  readonly #order: readonly string[];
  readonly #entries = new Map<string, Entry>();
  readonly #reads: FirstReads;

  /** @param sources the sources that write to the hub, in the order of the settings */
  constructor(clock: Clock, sources: readonly { readonly name: string; readonly force: boolean }[]) {
    const names = (force: boolean) =>
      sources.filter((source) => source.force === force).map(({ name }) => name);
    this.#order = [...names(true), ...names(false)];
    this.#reads = new FirstReads(clock, this.#order);
  }

  /** @param owns whether the source has the object on the hub, as far as it knows */
  declare(source: string, objects: readonly SourceObject[], owns: Entry['owns']): void {
    this.#entries.set(source, { objects, index: undefined, owns });
    this.#reads.attempted(source);
  }

  /** A source that was read or failed is not awaited any more. */
  handle({ kind, source }: Pick<SourceEvent, 'kind' | 'source'>): void {
    if (kind === 'followed' || kind === 'failed') this.#reads.attempted(source);
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

  /** Whether another source declares the object. Then it is transferred there and is not deleted. */
  isDeclaredElsewhere(source: string, identity: string): boolean {
    return this.#order.some((other) => other !== source && this.#find(other, identity) !== undefined);
  }

  /** Identities of all objects that other sources declare, on the hub or not. */
  *declaredElsewhere(source: string): Iterable<string> {
    for (const other of this.#order) if (other !== source) yield* this.#indexOf(other)?.keys() ?? [];
  }

  /** The objects that other sources than these declare. */
  *declaredBesides(sources: ReadonlySet<string>): Iterable<KubeObject> {
    for (const [source, { objects }] of this.#entries)
      if (!sources.has(source)) for (const { object } of objects) yield object;
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

/** The placements that sources declare, as far as the sources have been read. */
export class DeclaredPlacements {
  readonly #sources: ReadonlySet<string>;
  /** `namespace/name` by source. */
  readonly #placements = new Map<string, Set<string>>();
  /** Sources with a file that could not be read. */
  readonly #incomplete = new Set<string>();
  /**
   * Placements that a source deleted. Such a placement counts as missing until a source declares it again, even if a
   * file of another source cannot be read.
   */
  readonly #deleted = new Set<string>();
  readonly #changes = new Subscribers<string>();

  /** @param sources names of the sources; events of others are ignored */
  constructor(sources: readonly string[]) {
    this.#sources = new Set(sources);
  }

  handle(event: SourceEvent): void {
    if (!this.#sources.has(event.source)) return;
    if (event.kind === 'read') this.#read(event.source, event.content);
    else if (event.kind === 'deleted' && event.object.kind === PLACEMENT.kind)
      this.#lost(namespacedName(event.object.metadata));
  }

  #lost(key: string): void {
    this.#deleted.add(key);
    for (const placements of this.#placements.values()) placements.delete(key);
    void this.#changes.emit(key);
  }

  #read(source: string, { objects, complete }: SourceContent): void {
    const before = this.#placements.get(source) ?? new Set();
    const now = new Set(complete ? [] : before);
    for (const { object } of objects)
      if (object.kind === PLACEMENT.kind)
        now.add(namespacedName({ namespace: 'default', ...object.metadata }));
    this.#placements.set(source, now);
    for (const key of now) this.#deleted.delete(key);
    if (complete) this.#incomplete.delete(source);
    else this.#incomplete.add(source);
    for (const key of now) if (!before.has(key)) void this.#changes.emit(key);
    for (const key of before) if (!now.has(key)) void this.#changes.emit(key);
  }

  /** @param key `namespace/name` */
  has(key: string): boolean {
    for (const placements of this.#placements.values()) if (placements.has(key)) return true;
    return false;
  }

  /**
   * Whether no source declares it. False while a source is unread or incomplete, unless a source deleted the placement.
   * @param key `namespace/name`
   */
  isMissing(key: string): boolean {
    if (this.#deleted.has(key)) return true;
    return this.#placements.size === this.#sources.size && this.#incomplete.size === 0 && !this.has(key);
  }

  /** Called when a placement is declared or no longer declared. */
  onChange(listener: (key: string) => void): void {
    this.#changes.subscribe(listener);
  }
}
